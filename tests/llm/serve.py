"""Serves a model over HTTP on loopback until SIGTERM. Arguments: weights, port, model id, context in tokens."""

import os
import signal
import sys
import threading

import xllamacpp


def main() -> None:
    weights, port, model_id, context = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    parameters = xllamacpp.CommonParams()
    parameters.model.path = weights
    parameters.model_alias = {model_id}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx = context
    # One answer at a time, on one thread: the same work wherever it runs.
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.n_gpu_layers = 0
    parameters.use_jinja = True
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    stopped.wait()
    # The native threads would keep the process alive.
    os._exit(0)


main()
