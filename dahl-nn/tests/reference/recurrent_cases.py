"""Cases of `make_layers.py`: recurrent layers on whole batches, on sequences of several lengths, and from given states."""

import torch
import torch.nn.functional as F
from layer_case import Case
from make_networks import dropout
from torch import nn

# The lengths of the sequences, as in the tests.
LENGTHS = [3, 5, 1]


def first(module, x):
    return module(x)[0]


def packed(module, x, first=None):
    """The outputs and the last states, in one row. `first` has the states to begin with: all of one kind, and then the others."""
    if first is not None and isinstance(module, nn.LSTM):
        first = first.chunk(2)
    sequences = nn.utils.rnn.pack_padded_sequence(x, torch.tensor(LENGTHS), batch_first=True, enforce_sorted=False)
    output, states = module(sequences, first)
    output, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True)
    states = states if isinstance(states, tuple) else (states,)
    return torch.cat([array.flatten() for array in (output, *states)])


def rnn_by_steps(module, x, first=None, lengths=None, drops=False):
    """As `packed`, of an RNN in single operations: a product is rounded before its bias is added. Or as `dropped`."""
    lengths, tokens = torch.tensor(lengths or LENGTHS), torch.arange(x.shape[1])
    goes_on = (tokens[None] < lengths[:, None])[:, :, None]
    last, output = [], x
    for layer in range(module.num_layers):
        read = []
        output = dropout(output, 0.375, seed=9) if drops and layer > 0 else output
        for suffix in directions(module):
            bias = lambda name: getattr(module, f"{name}_l{layer}{suffix}") if module.bias else 0
            state = x.new_zeros(x.shape[0], module.hidden_size) if first is None else first[len(last)]
            weight = lambda name: getattr(module, f"{name}_l{layer}{suffix}")
            gates, outputs = F.linear(output, weight("weight_ih")) + bias("bias_ih"), {}
            for token in reversed(tokens.tolist()) if suffix else tokens.tolist():
                hidden = F.linear(state, weight("weight_hh")) + bias("bias_hh")
                state = torch.where(goes_on[:, token], torch.tanh(gates[:, token] + hidden), state)
                outputs[token] = state
            last.append(state)
            read.append(torch.stack([outputs[token] for token in tokens.tolist()], 1) * goes_on)
        output = torch.cat(read, 2)
    return output if drops else torch.cat([output.flatten(), *(state.flatten() for state in last)])


def rnn_dropped_by_steps(module, x):
    return rnn_by_steps(module, x, lengths=[x.shape[1]] * x.shape[0], drops=True)


def directions(module):
    """The ends of the names of each direction's parameters."""
    return ("", "_reverse") if module.bidirectional else ("",)


def dropped(module, x):
    """A recurrent network of two layers with dropout of a given mask between them."""
    run = {nn.RNN: torch.rnn_tanh, nn.LSTM: torch.lstm, nn.GRU: torch.gru}[type(module)]
    count = len(directions(module))
    for layer in range(module.num_layers):
        names = [f"{name}_l{layer}{end}" for end in directions(module) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        zeros = x.new_zeros(count, x.shape[0], module.hidden_size)
        states = (zeros, zeros) if isinstance(module, nn.LSTM) else zeros
        weights = [getattr(module, name) for name in names]
        x = dropout(x, 0.375, seed=9) if layer > 0 else x
        x = run(x, states, weights, True, 1, 0.0, False, module.bidirectional, True)[0]
    return x


def recurrent(kind):
    return kind(3, 4, 2, batch_first=True, bidirectional=True)


RECURRENT = {
    "rnn": Case(nn.RNN(3, 4, 2, batch_first=True), (2, 5, 3), first),
    "lstm": Case(nn.LSTM(3, 4, 2, batch_first=True), (2, 5, 3), first),
    "gru": Case(nn.GRU(3, 4, 2, batch_first=True), (2, 5, 3), first),
    "rnn_packed": Case(nn.RNN(3, 4, 2, batch_first=True), (3, 5, 3), packed, own=rnn_by_steps),
    "rnn_from_states": Case(nn.RNN(3, 4, 2, batch_first=True), (3, 5, 3), packed, memory=(2, 3, 4), own=rnn_by_steps),
    "lstm_packed": Case(nn.LSTM(3, 4, 2, batch_first=True), (3, 5, 3), packed),
    "lstm_from_states": Case(nn.LSTM(3, 4, 2, batch_first=True), (3, 5, 3), packed, memory=(4, 3, 4)),
    "gru_packed": Case(nn.GRU(3, 4, 2, batch_first=True), (3, 5, 3), packed),
    "gru_from_states": Case(nn.GRU(3, 4, 2, batch_first=True), (3, 5, 3), packed, memory=(2, 3, 4)),
    "rnn_bidirectional": Case(recurrent(nn.RNN), (3, 5, 3), packed, own=rnn_by_steps),
    "rnn_bidirectional_from_states": Case(recurrent(nn.RNN), (3, 5, 3), packed, memory=(4, 3, 4), own=rnn_by_steps),
    "rnn_dropout": Case(recurrent(nn.RNN), (2, 5, 3), dropped, own=rnn_dropped_by_steps),
    "lstm_bidirectional": Case(recurrent(nn.LSTM), (3, 5, 3), packed),
    "lstm_bidirectional_from_states": Case(recurrent(nn.LSTM), (3, 5, 3), packed, memory=(8, 3, 4)),
    "lstm_dropout": Case(recurrent(nn.LSTM), (2, 5, 3), dropped),
    "gru_bidirectional": Case(recurrent(nn.GRU), (3, 5, 3), packed),
    "gru_bidirectional_from_states": Case(recurrent(nn.GRU), (3, 5, 3), packed, memory=(4, 3, 4)),
    "gru_dropout": Case(recurrent(nn.GRU), (2, 5, 3), dropped),
    "rnn_without_bias": Case(nn.RNN(3, 4, 2, bias=False, batch_first=True), (3, 5, 3), packed, own=rnn_by_steps),
    "lstm_without_bias": Case(nn.LSTM(3, 4, 2, bias=False, batch_first=True), (3, 5, 3), packed),
    "gru_without_bias": Case(nn.GRU(3, 4, 2, bias=False, batch_first=True), (3, 5, 3), packed),
}
