# SPDX-License-Identifier: LGPL-3.0-or-later
"""lbmap_steps for Python: compute on a graph whose vertices are spread over hosts, in steps.

    import struct, lbmap

    def begin(vertex):
        return struct.pack('<d', vertex == 0)

    def mean(s):
        values = [struct.unpack('<d', state)[0] for state in (s.state, *(n.state for n in s.neighbours))]
        return struct.pack('<d', sum(values) / len(values))

    lbmap.steps('airfoil', 1000, 8, begin, mean, result=lambda vertex, state: print(vertex, state.hex()))

What a state, a step, `keep`, `load`, `result` and `stable` are is in lbmap_steps.h. A state is bytes, at most
state_size of them. An exception in a function ends the run and is raised from steps(). Needs nothing but liblbmap.
"""
import ctypes
from collections import namedtuple

__all__ = ['Error', 'Neighbour', 'Step', 'steps', 'version']

Neighbour = namedtuple('Neighbour', 'vertex weight state')
Step = namedtuple('Step', 'vertex step state neighbours')


class Error(Exception):
    """lbmap_steps failed; code is an enum lbmap_error of lbmap.h."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class _Neighbour(ctypes.Structure):
    _fields_ = [('vertex', ctypes.c_uint32), ('weight', ctypes.c_uint32), ('state', ctypes.c_void_p),
                ('size', ctypes.c_size_t)]


class _Step(ctypes.Structure):
    _fields_ = [('vertex', ctypes.c_uint32), ('step', ctypes.c_uint64), ('state', ctypes.c_void_p),
                ('size', ctypes.c_size_t), ('neighbour', ctypes.POINTER(_Neighbour)), ('degree', ctypes.c_size_t)]


_INIT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
_STEP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_Step), ctypes.c_void_p)
_LENGTH = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
_LOAD = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_uint32)
_RESULT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t)
_STABLE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64)


class _Program(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('job', ctypes.c_char_p), ('socket_path', ctypes.c_char_p),
                ('steps', ctypes.c_uint64), ('state_size', ctypes.c_size_t), ('keep', ctypes.c_uint32),
                ('context', ctypes.c_void_p), ('init', _INIT), ('step', _STEP), ('length', _LENGTH),
                ('load', _LOAD), ('result', _RESULT), ('stable', _STABLE), ('stop', ctypes.POINTER(ctypes.c_int))]


def _library():
    library = ctypes.CDLL('liblbmap.so.0')
    library.lbmap_steps.argtypes = [ctypes.POINTER(_Program), ctypes.c_char_p, ctypes.c_size_t]
    library.lbmap_steps.restype = ctypes.c_int
    library.lbmap_version.restype = ctypes.c_char_p
    return library


def version():
    """Version of liblbmap, as text."""
    return _library().lbmap_version().decode()


def steps(job, steps, state_size, init, step, *, result=None, load=None, stable=None, keep=0, socket=None):
    """Work until every vertex of the job has done all steps. Raises Error, or what a function raised."""
    raised = []
    stop = ctypes.c_int(0)
    length = {}  # of the state that was written last, by its address

    def guard(function, otherwise=None):
        def guarded(_context, *arguments):
            if raised:
                return otherwise
            try:
                return function(*arguments)
            except BaseException as error:  # it cannot pass through C
                raised.append(error)
                stop.value = 1
                return otherwise
        return guarded

    def write(address, state):
        if len(state) > state_size:
            raise ValueError(f'a state of {len(state)} bytes, state_size is {state_size}')
        ctypes.memmove(address, bytes(state), len(state))
        length.clear()
        length[address] = len(state)

    def on_step(pointer, after):
        s = pointer.contents
        neighbours = [Neighbour(n.vertex, n.weight, ctypes.string_at(n.state, n.size))
                      for n in s.neighbour[:s.degree]]
        write(after, step(Step(s.vertex, s.step, ctypes.string_at(s.state, s.size), neighbours)))

    program = _Program(
        size=ctypes.sizeof(_Program), job=job.encode(), socket_path=socket.encode() if socket else None,
        steps=steps, state_size=state_size, keep=keep, stop=ctypes.pointer(stop),
        init=_INIT(guard(lambda vertex, state: write(state, init(vertex)))), step=_STEP(guard(on_step)),
        length=_LENGTH(guard(lambda vertex, state: length.get(state, state_size), state_size)))
    if load is not None:
        program.load = _LOAD(guard(load, 0.0))
    if result is not None:
        program.result = _RESULT(guard(lambda vertex, state, size: result(vertex, ctypes.string_at(state, size))))
    if stable is not None:
        program.stable = _STABLE(guard(stable))
    message = ctypes.create_string_buffer(512)
    code = _library().lbmap_steps(ctypes.byref(program), message, len(message))
    if raised:
        raise raised[0]
    if code != 0:
        raise Error(code, message.value.decode(errors='replace'))
