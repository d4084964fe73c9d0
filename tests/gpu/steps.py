# SPDX-License-Identifier: LGPL-2.1-or-later
"""Steps of PyTorch, for programs that repeat one: step(kind) makes a function whose result is always the same."""
import torch


def layers():
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU()) for _ in range(8)]).cuda()
    return model, torch.randn(64, 256, device="cuda")


def train(model, batch):
    model.zero_grad(set_to_none=True)
    loss = model(batch).square().mean()
    loss.backward()
    return loss.item()


class Ones(torch.utils.data.Dataset):
    def __len__(self):
        return 1 << 30

    def __getitem__(self, at):
        return torch.ones(256)


def loader():
    """The same batch each time, made by workers that are forked: the weights stay as they are."""
    torch.cuda.synchronize()
    return iter(torch.utils.data.DataLoader(Ones(), batch_size=64, num_workers=3, pin_memory=True))


def replay(model, data):
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad():
        for _ in range(3):
            model(data)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            out = model(data).sum()

    def step():
        graph.replay()
        return out.item()
    return step


def eager(model, data):
    with torch.no_grad():
        return model(data).sum().item()


def step(kind):
    model, data = layers()
    if kind == "training":
        return lambda: train(model, data)
    if kind == "loader":
        batches = loader()
        return lambda: train(model, next(batches).cuda(non_blocking=True))
    if kind == "graph":
        return replay(model, data)
    return lambda: eager(model, data)
