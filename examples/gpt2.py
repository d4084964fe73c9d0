#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""GPT-2 generating tokens with PyTorch and transformers.

A program to try cudatrace on: the model is built from its configuration with
fixed random weights, so nothing is downloaded and what it says means nothing.
It knows nothing of cudatrace. Exit status: 0, or 77 when PyTorch,
transformers or a GPU is missing.
"""

import argparse
import sys
import time


def missing(what):
    print(f"gpt2.py: {what}", file=sys.stderr)
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=64, metavar="N",
                        help="tokens to generate a time (64)")
    parser.add_argument("--layers", type=int, default=12, metavar="N",
                        help="layers of the model (12, as the smallest GPT-2)")
    parser.add_argument("--repeat", type=int, default=1, metavar="N",
                        help="how often to generate (1)")
    args = parser.parse_args()

    try:
        import torch
    except ImportError:
        missing("PyTorch is missing: pip install torch")
    try:
        from transformers import GPT2Config, GPT2LMHeadModel
    except ImportError:
        missing("transformers is missing: pip install transformers")
    if not torch.cuda.is_available():
        missing("PyTorch sees no GPU here")

    torch.manual_seed(1)
    config = GPT2Config(n_layer=args.layers, bos_token_id=0, eos_token_id=None,
                        pad_token_id=0)
    model = GPT2LMHeadModel(config).eval().to("cuda")
    prompt = torch.arange(1, 9, device="cuda").unsqueeze(0)
    print("device:", torch.cuda.get_device_name())
    for _ in range(args.repeat):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        with torch.inference_mode():
            output = model.generate(
                prompt, attention_mask=torch.ones_like(prompt),
                min_new_tokens=args.tokens, max_new_tokens=args.tokens,
                do_sample=False)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
        response = output[0, prompt.shape[1]:].tolist()
        print("response:", *response[:16])
        print(f"{len(response)} tokens in {seconds:.3f} s")


if __name__ == "__main__":
    main()
