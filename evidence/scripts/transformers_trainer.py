"""A tiny BERT that is trained as the course of Hugging Face does it: `TrainingArguments` and `Trainer`."""

import time

import torch
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainingArguments,
)


class Reviews(Dataset):
    """Texts that were turned into numbers; each is read from somewhere in about 2 ms."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(0.002)
        tokens = torch.randint(5, 1000, (64,))
        return {
            "input_ids": tokens,
            "attention_mask": torch.ones_like(tokens),
            "labels": torch.tensor(index % 2),
        }


def main():
    config = BertConfig(
        vocab_size=1000,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        num_labels=2,
    )
    model = BertForSequenceClassification(config)
    training_args = TrainingArguments(
        output_dir="reviews-model",
        num_train_epochs=3,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=2,
        learning_rate=5e-5,
        warmup_steps=20,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_steps=10,
        report_to="none",
        use_cpu=True,
    )
    trainer = Trainer(
        model=model,
        args=training_args,
        train_dataset=Reviews(640),
        eval_dataset=Reviews(64),
    )
    trainer.train()


if __name__ == "__main__":
    main()
