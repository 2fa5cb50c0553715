#!/usr/bin/env python3
"""Makes `optimizers.json` beside it: what PyTorch's optimizers, schedules, clipping and averages do, in f64.

    pip install torch
    python3 dahl-nn/tests/reference/make_optimizers.py

Each optimizer makes 20 steps from the same values, of two parameters, with the same gradients, which do not depend on the
values. `values` has the values after each step. Schedules have the rate of each step, and the plateau the rate after each
metric.
"""

import json
import math
import pathlib

import torch
from torch.optim import lr_scheduler, swa_utils

HERE = pathlib.Path(__file__).parent
STEPS = 20

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def gradient(step, parameter, element):
    """A smooth sequence whose signs and magnitudes vary."""
    return math.sin(1.3 * step + 0.7 * element + parameter) * math.exp(-0.05 * step) + 0.05 * (element - 1)


LENS = [5, 3]
START = [[math.cos(1.1 * element + parameter) for element in range(n)] for parameter, n in enumerate(LENS)]
GRADIENTS = [
    [[gradient(step, parameter, element) for element in range(n)] for parameter, n in enumerate(LENS)]
    for step in range(STEPS)
]


def parameters():
    return [torch.nn.Parameter(torch.tensor(values)) for values in START]


def set_gradients(params, step):
    for parameter, values in zip(params, GRADIENTS[step]):
        parameter.grad = torch.tensor(values)


def lists(params):
    return [parameter.detach().tolist() for parameter in params]


def trajectory(make):
    params = parameters()
    optimizer = make(params)
    values = []
    for step in range(STEPS):
        set_gradients(params, step)
        optimizer.step()
        values.append(lists(params))
    return values


optim = torch.optim
OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.05),
    "sgd_decay": lambda p: optim.SGD(p, lr=0.05, weight_decay=0.1),
    "sgd_momentum": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.1),
    "sgd_nesterov": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.1, nesterov=True),
    "adam": lambda p: optim.Adam(p, lr=1e-3),
    "adam_decay": lambda p: optim.Adam(p, lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1),
    "adam_amsgrad": lambda p: optim.Adam(p, lr=0.02, betas=(0.8, 0.5), weight_decay=0.1, amsgrad=True),
    "adamw": lambda p: optim.AdamW(p, lr=1e-3),
    "adamw_decay": lambda p: optim.AdamW(p, lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1),
    "adamw_amsgrad": lambda p: optim.AdamW(p, lr=0.02, betas=(0.8, 0.5), weight_decay=0.1, amsgrad=True),
    "adamw_groups": lambda p: optim.AdamW(
        [{"params": p[:1]}, {"params": p[1:], "weight_decay": 0.0, "lr": 0.01}], lr=0.02, weight_decay=0.1
    ),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.01),
    "rmsprop_momentum": lambda p: optim.RMSprop(p, lr=0.02, alpha=0.9, eps=1e-6, weight_decay=0.1, momentum=0.8),
    "rmsprop_centered": lambda p: optim.RMSprop(p, lr=0.02, alpha=0.9, centered=True),
    "rmsprop_centered_momentum": lambda p: optim.RMSprop(
        p, lr=0.02, alpha=0.9, weight_decay=0.1, momentum=0.8, centered=True
    ),
    "adagrad": lambda p: optim.Adagrad(p, lr=0.01),
    "adagrad_decay": lambda p: optim.Adagrad(
        p, lr=0.1, lr_decay=0.05, weight_decay=0.1, initial_accumulator_value=0.2, eps=1e-6
    ),
    "adadelta": lambda p: optim.Adadelta(p, lr=1.0),
    "adadelta_decay": lambda p: optim.Adadelta(p, lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.1),
}


def scheduled(make):
    """The values with a schedule that is advanced after each step."""

    params = parameters()
    optimizer = optim.AdamW(
        [{"params": p, "weight_decay": decay, "lr": rate} for p, decay, rate in zip(params, [0.1, 0.0], [0.02, 0.01])]
    )
    schedule = make(optimizer)
    values = []
    for step in range(STEPS):
        set_gradients(params, step)
        optimizer.step()
        schedule.step()
        values.append(lists(params))
    return values


def rates(make, steps, rate=0.1):
    optimizer = optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=rate)
    schedule = make(optimizer)
    result = []
    for _ in range(steps):
        result.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return result


def warm_cosine(optimizer):
    warmup = lr_scheduler.LinearLR(optimizer, start_factor=0.25, total_iters=10)
    cosine = lr_scheduler.CosineAnnealingLR(optimizer, T_max=40, eta_min=0.01)
    return lr_scheduler.SequentialLR(optimizer, [warmup, cosine], milestones=[10])


SCHEDULES = {
    "step": rates(lambda o: lr_scheduler.StepLR(o, step_size=7, gamma=0.3), 40),
    "exponential": rates(lambda o: lr_scheduler.ExponentialLR(o, gamma=0.95), 40),
    "cosine": rates(lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=50, eta_min=0.01), 51),
    "cosine_warmup": rates(warm_cosine, 51),
    "cosine_restarts": rates(
        lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, T_0=7, T_mult=2, eta_min=0.01), 60
    ),
    "cosine_restarts_alike": rates(lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, T_0=7), 60),
    "one_cycle": rates(lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.1, total_steps=50), 49),
    "one_cycle_linear": rates(
        lambda o: lr_scheduler.OneCycleLR(
            o, max_lr=0.1, total_steps=50, pct_start=0.4, div_factor=10, final_div_factor=100, anneal_strategy="linear"
        ),
        49,
    ),
    "lambda": rates(lambda o: lr_scheduler.LambdaLR(o, lambda step: 1 / (1 + step)), 40),
}

METRICS = [1.0, 0.8, 0.79999, 0.9, 0.7, 0.7, 0.71, 0.69999, 0.7, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6]


def plateau(metrics, **options):
    optimizer = optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, **options)
    result = []
    for metric in metrics:
        schedule.step(metric)
        result.append(optimizer.param_groups[0]["lr"])
    return result


PLATEAUS = {
    "patience": plateau(METRICS, patience=1, factor=0.5),
    "cooldown": plateau(METRICS, patience=1, factor=0.5, cooldown=2, min_lr=0.03),
    "absolute": plateau(METRICS, patience=0, factor=0.5, threshold=0.15, threshold_mode="abs"),
    "maximum": plateau(METRICS, mode="max", patience=2, factor=0.2, eps=1e-3),
}


def clipped(clip):
    params = parameters()
    set_gradients(params, 0)
    norm = clip(params)
    gradients = [parameter.grad.tolist() for parameter in params]
    return {"norm": None if norm is None else norm.item(), "gradients": gradients}


CLIPS = {
    "norm": clipped(lambda p: torch.nn.utils.clip_grad_norm_(p, 0.7)),
    "norm_far": clipped(lambda p: torch.nn.utils.clip_grad_norm_(p, 100.0)),
    "value": clipped(lambda p: torch.nn.utils.clip_grad_value_(p, 0.3)),
}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.values = torch.nn.ParameterList(parameters())


def averaged(**options):
    model = Model()
    average = swa_utils.AveragedModel(model, **options)
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    result = []
    for step in range(STEPS):
        set_gradients(list(model.values), step)
        optimizer.step()
        average.update_parameters(model)
        result.append(lists(average.module.values))
    return result


AVERAGES = {
    "exponential": averaged(multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9)),
    "mean": averaged(),
}


def scaled(finite):
    """The scale after each step of a `GradScaler`, by its rules, where the gradients of some steps are infinite."""
    scale, tracker = torch.tensor([64.0], dtype=torch.float32), torch.tensor([0], dtype=torch.int32)
    result = []
    for is_finite in finite:
        found = torch.tensor([0.0 if is_finite else 1.0], dtype=torch.float32)
        torch._amp_update_scale_(scale, tracker, found, 2.0, 0.5, 3)
        result.append(scale.item())
    return result


FINITE = [True, True, True, True, False, True, False, False, True, True, True, True, True, True, True]

result = {
    "start": START,
    "gradients": GRADIENTS,
    "optimizers": {name: trajectory(make) for name, make in OPTIMIZERS.items()}
    | {"adamw_scheduled": scheduled(lambda o: lr_scheduler.ExponentialLR(o, gamma=0.9))},
    "schedules": SCHEDULES,
    "metrics": METRICS,
    "plateaus": PLATEAUS,
    "clips": CLIPS,
    "averages": AVERAGES,
    "finite": FINITE,
    "scales": scaled(FINITE),
}
(HERE / "optimizers.json").write_text(json.dumps(result) + "\n")
