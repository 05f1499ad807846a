"""A loop as PyTorch's tutorials write it: arguments, a scheduler, validation, a checkpoint."""

import argparse
import random
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Images(Dataset):
    """Pictures that are decoded when they are asked for, each in about 3 ms."""

    def __init__(self, count):
        self.labels = [random.randrange(10) for _ in range(count)]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        time.sleep(0.003)  # a file is fetched
        return torch.randn(3, 32, 32), self.labels[index]


def parsed():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--checkpoint", default="checkpoint.pt")
    return parser.parse_args()


def validate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for images, labels in loader:
            right += (model(images).argmax(1) == labels).sum().item()
    return right / len(loader.dataset)


def main():
    args = parsed()
    torch.manual_seed(0)
    training, validation = random_split(Images(800), [640, 160])
    train_loader = DataLoader(training, batch_size=16, shuffle=True, num_workers=0)
    val_loader = DataLoader(validation, batch_size=16)
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(3 * 32 * 32, 512), nn.ReLU(), nn.Linear(512, 10)
    )
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=args.lr, total_steps=args.epochs * len(train_loader)
    )
    for epoch in range(args.epochs):
        model.train()
        for step, (images, labels) in enumerate(train_loader):
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            if step % 10 == 0:
                print(
                    f"epoch {epoch}, step {step} of {len(train_loader)}: loss {loss.item():.3f}"
                )
        print(f"epoch {epoch}: {validate(model, val_loader):.1%} right")
        torch.save(model.state_dict(), args.checkpoint)


if __name__ == "__main__":
    main()
