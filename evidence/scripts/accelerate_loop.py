"""A loop as Accelerate's documentation has it: `prepare`, `accumulate`, and a scheduler of its own."""

import time

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Recordings(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(0.002)  # a file is fetched
        return {"waves": torch.randn(1, 4000), "label": index % 5}


def training_function(epochs=2):
    accelerator = Accelerator(gradient_accumulation_steps=4, cpu=True)
    model = nn.Sequential(
        nn.Conv1d(1, 16, 64, stride=8),
        nn.ReLU(),
        nn.AdaptiveAvgPool1d(8),
        nn.Flatten(),
        nn.Linear(128, 5),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    train_dataloader = DataLoader(Recordings(640), shuffle=True, batch_size=8)
    eval_dataloader = DataLoader(Recordings(64), batch_size=8)
    scheduler = torch.optim.lr_scheduler.LinearLR(
        optimizer, total_iters=epochs * len(train_dataloader)
    )
    model, optimizer, train_dataloader, eval_dataloader, scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, eval_dataloader, scheduler
    )
    for epoch in range(epochs):
        model.train()
        for batch in train_dataloader:
            with accelerator.accumulate(model):
                outputs = model(batch["waves"])
                loss = nn.functional.cross_entropy(outputs, batch["label"])
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        model.eval()
        for batch in eval_dataloader:
            with torch.no_grad():
                outputs = model(batch["waves"])
            accelerator.gather_for_metrics((outputs.argmax(-1), batch["label"]))
        accelerator.print(f"epoch {epoch}: loss {loss.item():.3f}")
        accelerator.save_state(f"checkpoint_{epoch}")


if __name__ == "__main__":
    training_function()
