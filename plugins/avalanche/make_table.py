"""Make the table of Avalanche's strategies from the installed Avalanche.

    python -m bell_bench_avalanche.make_table

Names, constructor arguments and their defaults come from Avalanche. This file adds a line on each,
defaults for arguments that have none, and why a strategy cannot run on our problems.
"""

from __future__ import annotations

import importlib
import inspect
import typing
from typing import Any

from bell_bench.files import write_json
from bell_bench_avalanche.catalogue import TABLE
from bell_bench_avalanche.library import BaseTemplate

MODULE = "avalanche.training.supervised"

OURS = {
    "self", "model", "optimizer", "criterion", "train_mb_size", "train_epochs", "eval_mb_size",
    "device", "plugins", "evaluator", "eval_every", "peval_mode",
}  # fmt: skip
"""The arguments that the suite and the harness set."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "AGEM": {"patterns_per_exp": 200},
    "CoPE": {"n_classes": 64},
    "EWC": {"ewc_lambda": 1000.0},
    "LwF": {"alpha": 1.0, "temperature": 2.0},
    "MIR": {"mem_size": 200, "subsample": 200, "batch_size_mem": 32},
    "SynapticIntelligence": {"si_lambda": 1.0},
}
"""Defaults where Avalanche has none, or one that cannot work here (CoPE's 10 classes, MIR's 1
example)."""

KINDS = {"CoPE": {"embeds": True, "online": True}}

SUMMARIES = {
    "AETraining": "Trains an autoencoder.",
    "AGEM": "Projects gradients so that the mean loss on stored examples does not rise (A-GEM).",
    "AR1": "Latent replay and synaptic intelligence on a MobileNet.",
    "BiC": "Replay and distillation with bias correction of new classes.",
    "CWRStar": "Consolidates the weights of the classifier alone (CWR*).",
    "CoPE": "Nearest of class prototypes that follow the embedding; online, with replay.",
    "Cumulative": "Trains on the data of all problems so far: an upper bound, not bounded memory.",
    "DER": "Replays stored examples and the logits they had (dark experience replay, DER++).",
    "ER_ACE": "Replay with an asymmetric cross-entropy that spares old classes.",
    "ER_AML": "Replay with an asymmetric metric-learning loss.",
    "EWC": "A quadratic penalty per former problem, weighted by Fisher information.",
    "ExpertGateStrategy": "An expert per problem, chosen by autoencoders.",
    "FeatureReplay": "Replays stored features of the last layer.",
    "FromScratchTraining": "Starts from the initial weights on every problem.",
    "GDumb": "Trains from scratch on a class-balanced memory alone.",
    "GEM": "Projects gradients so that no former problem's loss rises.",
    "GSS_greedy": "Replay of examples chosen for the diversity of their gradients.",
    "GenerativeReplay": "Replays examples that a generator makes.",
    "ICaRL": "Nearest class means of exemplars, and distillation.",
    "JointTraining": "Trains on all problems at once.",
    "LFL": "Keeps features near those of the former model (less-forgetful learning).",
    "LearningToPrompt": "Learns prompts for a frozen vision transformer.",
    "LwF": "Distils the former model's answers on new data (learning without forgetting).",
    "MAS": "A quadratic penalty weighted by how sensitive outputs are (memory aware synapses).",
    "MER": "Replay with Reptile's meta-updates.",
    "MIR": "Replays those stored examples that an update would harm most.",
    "Naive": "Goes on training: no measure against forgetting.",
    "PNNStrategy": "A column of layers per problem, with lateral connections.",
    "PackNet": "Prunes after each problem and gives the next what is free.",
    "Replay": "Mixes stored examples into the batches.",
    "SCR": "Contrastive replay, and nearest class means.",
    "StreamingLDA": "Linear discriminant analysis on fixed features, example by example.",
    "SynapticIntelligence": "A quadratic penalty by each weight's part in lowering the loss.",
    "VAETraining": "Trains a variational autoencoder.",
}

HELP = {
    "T": "Temperature of the softmax over prototypes.",
    "CoPE.alpha": "Share of a prototype that stays when it moves.",
    "LwF.alpha": "Weight of the distillation.",
    "MAS.alpha": "Share of former importances.",
    "batch_size_mem": "Stored examples that join a batch.",
    "decay_factor": "Decay of former importances, in mode onlineweightedsum.",
    "eps": "Keeps importances finite.",
    "ewc_lambda": "Weight of the penalty.",
    "keep_importance_data": "Keep the importances of all former problems.",
    "lambda_reg": "Weight of the penalty.",
    "mem_size": "Examples stored.",
    "mode": "separate, onlinesum or onlineweightedsum: how former problems are remembered.",
    "n_classes": "Classes of all problems together, at least.",
    "p_size": "Width of the embedding.",
    "patterns_per_exp": "Examples stored per problem.",
    "reset_optimizer": "Reset the optimiser for every problem.",
    "sample_size": "Stored examples that give the reference gradient.",
    "si_lambda": "Weight of the penalty.",
    "subsample": "Stored examples among which those to replay are sought.",
    "temperature": "Temperature of the distillation.",
    "verbose": "Show a progress bar in the log.",
}

REASONS = {
    "AETraining": "it trains an autoencoder, without labels",
    "AR1": "it brings a pretrained MobileNet of its own",
    "BiC": "it corrects the bias among classes of one head; here every problem has its own",
    "CWRStar": "it rewrites the rows of one linear head; here every problem has its own",
    "DER": "it asks its model for logits without task labels, which choose the head here",
    "ER_AML": "it needs a feature extractor and one linear head, apart",
    "ExpertGateStrategy": "it needs an AlexNet for every problem",
    "FeatureReplay": "it replays the inputs of one linear head; here every problem has its own",
    "GEM": "it needs the solver quadprog, which Avalanche does not install",
    "GSS_greedy": "it must know the shape of all inputs beforehand",
    "GenerativeReplay": "its generator makes single images of 28x28 pixels",
    "ICaRL": "it needs a feature extractor and one linear head, apart",
    "JointTraining": "it learns all problems at once; ours come one at a time",
    "LFL": "it freezes one linear head; here every problem has its own",
    "LearningToPrompt": "it brings a pretrained vision transformer of its own",
    "MER": "it makes an update of every single example, some 200 for a batch of the suite's",
    "PNNStrategy": "it needs a progressive network, not the suite's architecture",
    "PackNet": "its constructor fails in Avalanche 0.6, which nests the list of plugins",
    "SCR": "it needs an encoder and one classifier, apart",
    "StreamingLDA": "it needs a pretrained feature extractor",
    "VAETraining": "it trains an autoencoder, without labels",
}


def make_table() -> dict[str, dict[str, Any]]:
    """Return one row per strategy that Avalanche exports."""
    exported = vars(importlib.import_module(MODULE))
    return {
        name: _row(name, kind)
        for name, kind in sorted(exported.items())
        if inspect.isclass(kind) and issubclass(kind, BaseTemplate)
    }


def _row(name: str, kind: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"load": f"{MODULE}:{name}", "summary": SUMMARIES[name]}
    if name in REASONS:
        return {**row, "reason": REASONS[name]}
    return {**row, **KINDS.get(name, {}), "options": _options(name, kind)}


def _options(name: str, kind: Any) -> dict[str, dict[str, Any]]:
    constructor = inspect.unwrap(kind.__init__)
    options = {}
    for parameter in inspect.signature(constructor).parameters.values():
        if parameter.name in OURS or parameter.kind is parameter.VAR_KEYWORD:
            continue
        default = DEFAULTS.get(name, {}).get(parameter.name, parameter.default)
        if default is parameter.empty:
            raise LookupError(f"{name}.{parameter.name} has no default: add one to DEFAULTS")
        options[parameter.name] = {
            "type": _type(parameter.annotation, default),
            "default": default,
            "help": HELP.get(f"{name}.{parameter.name}") or HELP[parameter.name],
        }
    return options


def _type(annotation: Any, default: Any) -> str:
    """Return the simple type of an argument: its annotation, or else the type of its default."""
    simple = [annotation, *typing.get_args(annotation)]
    found = next((each for each in simple if each in (bool, int, float, str)), type(default))
    return str(found.__name__)


if __name__ == "__main__":
    write_json(TABLE, make_table())
