#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ResNet-18 trained on random images with PyTorch, the batches made by worker processes."""

import sys

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit(77)


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside),
            nn.ReLU(), nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside))
        self.shortcut = nn.Sequential() if stride == 1 and inside == outside else nn.Sequential(
            nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 16 * 20

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3, 128, 128, generator=generator), index % 100


def main():
    torch.manual_seed(1)
    widths = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2),
              (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    model = nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.MaxPool2d(3, 2, 1), *[Block(*w) for w in widths],
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 100)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loader = torch.utils.data.DataLoader(Images(), batch_size=16, num_workers=4, pin_memory=True)
    for images, labels in loader:
        loss = nn.functional.cross_entropy(model(images.cuda(non_blocking=True)),
                                           labels.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("trained:", loss.item() > 0)


if __name__ == "__main__":
    main()
