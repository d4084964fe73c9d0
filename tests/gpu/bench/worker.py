#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One PyTorch program that runs a round of its work whenever a line comes in, and
prints the round's seconds: so that processes traced in different ways can take turns.
The line names the processor for the main thread, which makes nearly all calls.  With
PAST, the path of past.so, it does the work twice more, in which its pieces (a token, a step)
go through the library and past it in turns, each piece both ways: two more numbers are the
seconds of those through it and past it, which lie milliseconds apart.  With KINETO, each round
runs while torch.profiler collects the GPU's activity; its start and end are not in the seconds.

  gpt2    GPT-2 (random weights) generates 128 tokens
  train   ten training steps of a small GPT-2: forward, backward, optimiser
  graph   a CUDA graph of an MLP, replayed 1,000 times
"""

import contextlib
import ctypes
import os
import sys
import time

import torch


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(bos_token_id=0, eos_token_id=None, pad_token_id=0)
    model = GPT2LMHeadModel(config).eval().to("cuda")
    prompt = torch.arange(1, 9, device="cuda").unsqueeze(0)
    mask = torch.ones_like(prompt)

    def work(tick):
        def token(_, scores):
            tick()
            return scores
        with torch.inference_mode():
            model.generate(prompt, attention_mask=mask, min_new_tokens=128,
                           max_new_tokens=128, do_sample=False, logits_processor=[token])
    return work


def train():
    from transformers import GPT2Config, GPT2LMHeadModel
    model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_embd=256, n_head=4)).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randint(0, 50000, (4, 64), device="cuda")

    def work(tick):
        for _ in range(10):
            optimizer.zero_grad()
            model(tokens, labels=tokens).loss.backward()
            optimizer.step()
            tick()
    return work


def graph():
    layers = [torch.nn.Linear(512, 512) for _ in range(16)]
    model = torch.nn.Sequential(*layers).to("cuda").eval()
    x = torch.randn(32, 512, device="cuda")
    captured = torch.cuda.CUDAGraph()
    with torch.inference_mode():
        model(x)
        torch.cuda.synchronize()
        with torch.cuda.graph(captured):
            model(x)

    def work(tick):
        for _ in range(20):
            for _ in range(50):
                captured.replay()
            tick()
    return work


class Turns:
    """Stamps the end of each piece of work, and lets the next go the other way."""
    def __init__(self, past):
        self.past = past
        self.took = [0.0, 0.0]

    def run(self, work, way):
        self.way = way
        self.past(way)
        torch.cuda.synchronize()
        self.begin = time.perf_counter()
        work(self.tick)
        self.tick()

    def tick(self):
        torch.cuda.synchronize()
        self.took[self.way] += time.perf_counter() - self.begin
        self.way ^= 1
        self.past(self.way)
        self.begin = time.perf_counter()


def profiler():
    if "KINETO" not in os.environ:
        return contextlib.nullcontext()
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])


def main():
    torch.manual_seed(1)
    work = {"gpt2": gpt2, "train": train, "graph": graph}[sys.argv[1]]()
    work(lambda: None)
    torch.cuda.synchronize()
    everywhere = os.sched_getaffinity(0)
    past = ctypes.CDLL(os.environ["PAST"]).past if "PAST" in os.environ else None
    print("ready", flush=True)
    for line in sys.stdin:
        os.sched_setaffinity(0, {int(line)} if line.strip() else everywhere)
        torch.cuda.synchronize()
        with profiler():
            begin = time.perf_counter()
            work(lambda: None)
            torch.cuda.synchronize()
            took = [time.perf_counter() - begin]
        if past:
            turns = Turns(past)
            turns.run(work, 0)
            turns.run(work, 1)
            past(0)
            took += turns.took
        print(*took, flush=True)


if __name__ == "__main__":
    main()
