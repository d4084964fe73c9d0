# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds CUDA graphs by nodes, in each way that there is, replays them, and says from which line each kernel comes.

Usage: graph_nodes.py LIBCUDA EXPECTED [WAY...]

The kernels of a graph differ by their grids, so that a trace itself says which one a replay ran. EXPECTED gets a line for each
graph that becomes executable, in this order: its way, how often it is launched, and GRID:LINE:FUNCTION of each of its kernels.
With a libcuda that has no GPU (tests/sim) the kernels compute nothing. A number in place of a way: ways that it draws.
"""
import ctypes
import random
import sys

NODE_KERNEL, NODE_GRAPH, NODE_EMPTY, NODE_CONDITIONAL = 0, 4, 5, 13
MOVE = 1
PTX = b""".version 7.8
.target sm_80
.address_size 64
.visible .entry one() { ret; }
.visible .entry two() { ret; }
"""
SIMULATED = b"cudatrace-sim-image 1\nkernel one - 1000\nkernel two - 3000\n"

cuda = ctypes.CDLL(sys.argv[1])
context, stream, module = (ctypes.c_void_p() for _ in range(3))
built = {}			# by graph: GRID:LINE:FUNCTION of each kernel, or a list of those of a graph inside
executables = []
grid = 0


class KernelNode(ctypes.Structure):
    _fields_ = [("func", ctypes.c_void_p), ("shape", ctypes.c_uint * 7), ("params", ctypes.c_void_p), ("extra", ctypes.c_void_p),
                ("kern", ctypes.c_void_p), ("ctx", ctypes.c_void_p)]


class ChildNode(ctypes.Structure):
    _fields_ = [("graph", ctypes.c_void_p), ("ownership", ctypes.c_int)]


class ConditionalNode(ctypes.Structure):
    _fields_ = [("handle", ctypes.c_ulonglong), ("type", ctypes.c_int), ("size", ctypes.c_uint),
                ("graphs", ctypes.POINTER(ctypes.c_void_p)), ("ctx", ctypes.c_void_p)]


class AnyNode(ctypes.Union):
    _fields_ = [("kernel", KernelNode), ("graph", ChildNode), ("conditional", ConditionalNode), ("words", ctypes.c_longlong * 29)]


class Node(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("reserved", ctypes.c_int * 3), ("of", AnyNode), ("reserved2", ctypes.c_longlong)]


def flat(kernels):
    for one_of in kernels:
        if isinstance(one_of, list):
            yield from flat(one_of)
        else:
            yield one_of


def checked(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    if result:
        sys.exit(f"{name}: {result}")


def kernel(function):
    """The parameters of a kernel node, with a grid that no other one has."""
    global grid
    grid += 1
    return KernelNode(func=function, shape=(ctypes.c_uint * 7)(grid, 1, 1, 1, 1, 1, 0))


def any_kernel(function):
    node = Node(type=NODE_KERNEL)
    node.of.kernel = kernel(function)
    return node


def noted(graph, result):
    """A kernel with the last grid was added to the graph by the line that calls this."""
    caller = sys._getframe(1)
    if result:
        sys.exit(f"line {caller.f_lineno}: {result}")
    built[graph.value].append(f"{grid}:{caller.f_lineno}:{caller.f_code.co_name}")


def new_graph():
    graph = ctypes.c_void_p()
    checked("cuGraphCreate", ctypes.byref(graph), 0)
    built[graph.value] = []
    return graph


def after(node):
    """The dependencies of a node: those before it, and how many."""
    return (ctypes.byref(node), ctypes.c_size_t(1)) if node else (None, ctypes.c_size_t(0))


def forward(graph, node):
    for _ in range(3):
        this, before = ctypes.byref(node), after(ctypes.c_void_p(node.value))
        noted(graph, cuda.cuGraphAddKernelNode_v2(this, graph, *before, ctypes.byref(kernel(one))))


def backward(graph, node):
    this, before = ctypes.byref(node), after(ctypes.c_void_p(node.value))
    noted(graph, cuda.cuGraphAddKernelNode_v2(this, graph, *before, ctypes.byref(kernel(one))))
    checked("cuGraphAddEmptyNode", this, graph, *after(ctypes.c_void_p(node.value)))
    noted(graph, cuda.cuGraphAddNode_v2(this, graph, None, None, ctypes.c_size_t(0), ctypes.byref(any_kernel(two))))


def inner(graph, node):
    """The same kernels as those of backward()."""
    noted(graph, cuda.cuGraphAddKernelNode_v2(ctypes.byref(node), graph, *after(None), ctypes.byref(kernel(one))))
    noted(graph, cuda.cuGraphAddKernelNode_v2(ctypes.byref(node), graph, *after(None), ctypes.byref(kernel(two))))


def executable(way, graph):
    made = ctypes.c_void_p()
    checked("cuGraphInstantiateWithFlags", ctypes.byref(made), graph, ctypes.c_ulonglong(0))
    executables.append([way, 0, list(flat(built[graph.value]))])
    return made


def replay(made, times=5):
    for _ in range(times):
        checked("cuGraphLaunch", made, stream)
    checked("cuStreamSynchronize", stream)
    executables[-1][1] += times


def nodes():
    graph = new_graph()
    node = ctypes.c_void_p()
    forward(graph, node)
    backward(graph, node)
    made = executable("nodes", graph)
    checked("cuGraphDestroy", graph)
    replay(made)
    checked("cuGraphExecDestroy", made)


def again():
    """The handles of before may come again."""
    nodes()
    graph = new_graph()
    backward(graph, ctypes.c_void_p())
    for _ in range(2):
        replay(executable("again", graph))


def insert(graph, node, inside):
    """A copy of a graph into another one, after a node."""
    this, before = ctypes.byref(node), after(ctypes.c_void_p(node.value))
    checked("cuGraphAddChildGraphNode", this, graph, *before, inside)
    built[graph.value].append(list(flat(built[inside.value])))


def child():
    """Two graphs inside, the second one with a third inside; all of them, and the one around, have the same kernels."""
    graph, first, second, third = (new_graph() for _ in range(4))
    node = ctypes.c_void_p()
    backward(first, ctypes.c_void_p())
    inner(second, ctypes.c_void_p())
    third_node = ctypes.c_void_p()
    backward(third, third_node)
    forward(third, third_node)
    insert(second, ctypes.c_void_p(), third)
    inner(graph, node)
    insert(graph, node, first)
    insert(graph, node, second)
    forward(first, ctypes.c_void_p())		# which the copy has not
    checked("cuGraphDestroy", first)
    backward(graph, node)
    replay(executable("child", graph))


def moved():
    graph, inside, node = new_graph(), new_graph(), ctypes.c_void_p()
    params = Node(type=NODE_GRAPH)
    params.of.graph = ChildNode(inside, MOVE)
    forward(graph, node)
    checked("cuGraphAddNode_v2", ctypes.byref(node), graph, None, None, ctypes.c_size_t(0), ctypes.byref(params))
    built[graph.value].append(built[inside.value])
    backward(inside, ctypes.c_void_p())
    replay(executable("moved", graph))


def conditional():
    graph, node, handle = new_graph(), ctypes.c_void_p(), ctypes.c_ulonglong()
    params = Node(type=NODE_CONDITIONAL)
    checked("cuGraphConditionalHandleCreate", ctypes.byref(handle), graph, context, 1, 1)
    params.of.conditional = ConditionalNode(handle, 0, 1, None, context)
    forward(graph, node)
    checked("cuGraphAddNode_v2", ctypes.byref(node), graph, None, None, ctypes.c_size_t(0), ctypes.byref(params))
    body = ctypes.c_void_p(params.of.conditional.graphs[0])
    built[body.value] = []
    built[graph.value].append(built[body.value])
    backward(body, ctypes.c_void_p())
    replay(executable("conditional", graph))


def clone():
    graph, copy = new_graph(), ctypes.c_void_p()
    backward(graph, ctypes.c_void_p())
    checked("cuGraphClone", ctypes.byref(copy), graph)
    built[copy.value] = list(flat(built[graph.value]))
    forward(copy, ctypes.c_void_p())
    replay(executable("clone", copy))


def update():
    first, same, other = new_graph(), new_graph(), new_graph()
    backward(first, ctypes.c_void_p())
    backward(same, ctypes.c_void_p())
    node = ctypes.c_void_p()
    noted(other, cuda.cuGraphAddKernelNode_v2(ctypes.byref(node), other, *after(None), ctypes.byref(kernel(one))))
    before = after(ctypes.c_void_p(node.value))
    checked("cuGraphAddEmptyNode", ctypes.byref(node), other, *before)
    noted(other, cuda.cuGraphAddKernelNode_v2(ctypes.byref(node), other, *after(None), ctypes.byref(kernel(two))))
    made = executable("update", first)
    replay(made)
    for graph in same, other:
        info = (ctypes.c_void_p * 3)()
        checked("cuGraphExecUpdate_v2", made, graph, info)
        executables.append(["update", 0, built[graph.value]])
        replay(made)


def capture():
    """Into a graph that has nodes, and in one of its own."""
    graph = new_graph()
    forward(graph, ctypes.c_void_p())
    for into in graph, None:
        if into:
            checked("cuStreamBeginCaptureToGraph", stream, graph, None, None, ctypes.c_size_t(0), 0)
        else:
            checked("cuStreamBeginCapture_v2", stream, 0)
            graph = ctypes.c_void_p(-1)
            built[graph.value] = []
        launch(graph, stream)
        kernels = built[graph.value]
        checked("cuStreamEndCapture", stream, ctypes.byref(graph))
        built[graph.value] = kernels
        replay(executable("capture", graph))


def launch(graph, into):
    global grid
    grid += 1
    shape = [ctypes.c_uint(n) for n in (grid, 1, 1, 1, 1, 1, 0)]
    noted(graph, cuda.cuLaunchKernel(one, *shape, into, None, None))


def launch_beside(graph, into):
    global grid
    grid += 1
    shape = [ctypes.c_uint(n) for n in (grid, 1, 1, 1, 1, 1, 0)]
    noted(graph, cuda.cuLaunchKernel(one, *shape, into, None, None))


def fork():
    """A capture into two streams; a third one is captured at the same time."""
    graph, other, first, second = (ctypes.c_void_p(n) for n in (-1, -2, -3, -4))
    side, third, begun, ended = (ctypes.c_void_p() for _ in range(4))
    for made in side, third:
        checked("cuStreamCreate", ctypes.byref(made), 1)
    for made in begun, ended:
        checked("cuEventCreate", ctypes.byref(made), 2)
    built[first.value], built[second.value] = [], []
    checked("cuStreamBeginCapture_v2", stream, 0)
    checked("cuStreamBeginCapture_v2", third, 0)
    launch(first, stream)
    checked("cuEventRecord", begun, stream)
    checked("cuStreamWaitEvent", side, begun, 0)
    launch_beside(first, side)
    launch(second, third)
    checked("cuEventRecord", ended, side)
    launch(first, stream)
    checked("cuStreamWaitEvent", stream, ended, 0)
    checked("cuStreamEndCapture", stream, ctypes.byref(graph))
    launch(second, third)
    checked("cuStreamEndCapture", third, ctypes.byref(other))
    built[graph.value], built[other.value] = built[first.value], built[second.value]
    for made in graph, other:
        replay(executable("fork", made))
    checked("cuLaunchKernel", one, *[ctypes.c_uint(1)] * 6, 0, side, None, None)	# of no graph
    checked("cuStreamSynchronize", side)


def drawn(seed):
    """Graphs inside of graphs, as they come."""
    draw, graphs = random.Random(seed), [new_graph()]
    for _ in range(150):
        graph, node, params = draw.choice(graphs), ctypes.c_void_p(), Node(type=NODE_GRAPH)
        what = draw.randrange(9)
        if what == 0 and len(graphs) < 8:
            graphs.append(new_graph())
        elif what <= 2:
            forward(graph, node)
        elif what == 3:
            backward(graph, node)
        elif what <= 5 and len(graphs) > 1:
            inside = draw.choice([one_of for one_of in graphs if one_of is not graph])
            if what == 4:
                checked("cuGraphAddChildGraphNode", ctypes.byref(node), graph, None, ctypes.c_size_t(0), inside)
                built[graph.value].append(list(flat(built[inside.value])))
            else:
                params.of.graph = ChildNode(inside, MOVE)
                checked("cuGraphAddNode_v2", ctypes.byref(node), graph, None, None, ctypes.c_size_t(0), ctypes.byref(params))
                built[graph.value].append(built[inside.value])
                backward(inside, node)
                graphs.remove(inside)
        elif what == 6:
            copy = ctypes.c_void_p()
            checked("cuGraphClone", ctypes.byref(copy), graph)
            built[copy.value] = list(flat(built[graph.value]))
            graphs.append(copy)
        elif what == 7 and len(graphs) > 1:
            checked("cuGraphDestroy", graph)
            graphs.remove(graph)
        elif list(flat(built[graph.value])) and len(executables) < 90:
            replay(executable("drawn", graph), 1)


WAYS = {way.__name__: way for way in (nodes, again, child, moved, conditional, clone, update, capture, fork)}

checked("cuInit", 0)
checked("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
checked("cuCtxSetCurrent", context)
checked("cuStreamCreate", ctypes.byref(stream), 1)
checked("cuModuleLoadData", ctypes.byref(module), SIMULATED if hasattr(cuda, "cudatrace_simulated_gpu") else PTX)
one, two = ctypes.c_void_p(), ctypes.c_void_p()
checked("cuModuleGetFunction", ctypes.byref(one), module, b"one")
checked("cuModuleGetFunction", ctypes.byref(two), module, b"two")
for name in sys.argv[3:] or WAYS:
    if name.isdigit():
        drawn(int(name))
    else:
        WAYS[name]()
checked("cuCtxSynchronize")
with open(sys.argv[2], "w", encoding="utf-8") as out:
    for way, launches, kernels in executables:
        print(way, launches, *kernels, file=out)
