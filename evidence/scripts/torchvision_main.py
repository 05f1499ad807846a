"""A classifier as torchvision's reference scripts train one: arguments, `main(args)`, epochs."""

import argparse
import os
import time

import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import FakeData
from torchvision.models import get_model
from torchvision.transforms import v2


def load_data(args):
    training = v2.Compose(
        [
            v2.PILToTensor(),
            v2.RandomResizedCrop(args.crop_size, antialias=True),
            v2.RandomHorizontalFlip(0.5),
            v2.ToDtype(torch.float, scale=True),
            v2.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
        ]
    )
    validation = v2.Compose(
        [v2.PILToTensor(), v2.Resize(args.crop_size), v2.ToDtype(torch.float, scale=True)]
    )
    dataset = FakeData(args.images, (3, 96, 96), num_classes=10, transform=training)
    dataset_test = FakeData(32, (3, 96, 96), num_classes=10, transform=validation)
    return dataset, dataset_test, torch.utils.data.RandomSampler(dataset)


def train_one_epoch(model, criterion, optimizer, data_loader, device, epoch, args):
    model.train()
    for i, (image, target) in enumerate(data_loader):
        start_time = time.time()
        image, target = image.to(device), target.to(device)
        loss = criterion(model(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % args.print_freq == 0:
            speed = image.shape[0] / (time.time() - start_time)
            print(
                f"Epoch [{epoch}] {i}/{len(data_loader)} loss {loss.item():.4f} img/s {speed:.1f}"
            )


def evaluate(model, criterion, data_loader, device):
    model.eval()
    with torch.inference_mode():
        for image, target in data_loader:
            loss = criterion(model(image.to(device)), target.to(device))
    print(f"Test: loss {loss.item():.4f}")


def main(args):
    os.makedirs(args.output_dir, exist_ok=True)
    device = torch.device(args.device)
    dataset, dataset_test, train_sampler = load_data(args)
    data_loader = DataLoader(
        dataset,
        batch_size=args.batch_size,
        sampler=train_sampler,
        num_workers=args.workers,
        pin_memory=True,
    )
    data_loader_test = DataLoader(dataset_test, batch_size=args.batch_size)
    model = get_model(args.model, weights=None, num_classes=10).to(device)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4
    )
    lr_scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    for epoch in range(args.epochs):
        train_one_epoch(model, criterion, optimizer, data_loader, device, epoch, args)
        lr_scheduler.step()
        evaluate(model, criterion, data_loader_test, device)
        checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(checkpoint, os.path.join(args.output_dir, "checkpoint.pth"))


def get_args_parser():
    parser = argparse.ArgumentParser(description="Classification training")
    parser.add_argument("--model", default="squeezenet1_1")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-b", "--batch-size", default=16, type=int)
    parser.add_argument("-j", "--workers", default=0, type=int)
    parser.add_argument("--epochs", default=2, type=int)
    parser.add_argument("--lr", default=0.1, type=float)
    parser.add_argument("--images", default=640, type=int)
    parser.add_argument("--crop-size", default=64, type=int)
    parser.add_argument("--print-freq", default=10, type=int)
    parser.add_argument("--output-dir", default="checkpoints")
    return parser


if __name__ == "__main__":
    main(get_args_parser().parse_args())
