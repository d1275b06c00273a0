# SPDX-License-Identifier: LGPL-3.0-or-later
"""liblbmap for Python: compute on a graph whose vertices are spread over hosts.

In steps, with nothing to do for moves and losses (lbmap_steps.h):

    import struct, lbmap

    def begin(vertex):
        return struct.pack('<d', vertex == 0)

    def mean(s):
        values = [struct.unpack('<d', state)[0] for state in (s.state, *(n.state for n in s.neighbours))]
        return struct.pack('<d', sum(values) / len(values))

    lbmap.steps('airfoil', 1000, 8, begin, mean, result=lambda vertex, state: print(vertex, state.hex()))

A state is bytes, at most state_size of them. An exception in a function ends the run and is raised from steps().

Or by messages between vertices, and checkpoints (lbmap.h):

    heard = {}

    with lbmap.Map('airfoil') as map:
        map.serve(acquire=lambda vertex, payload: heard.update({vertex: payload}), revoked=heard.pop,
                  release=heard.pop, deliver=lambda to, sender, tag, message: heard.update({to: message}))
        while going_on():
            map.dispatch(0.01)
            if map.lease() == lbmap.WORK:
                ...                             # a step of at most 2 s, map.send(vertex, other, tag, message)
            map.checkpoint(heard)               # every second or so

What calls promise is in lbmap.h; where C takes a vertex with its token, Python takes the vertex. Needs nothing but
liblbmap.
"""
import ctypes
from collections import namedtuple

__all__ = ['Change', 'E_BUSY', 'E_STATE', 'Edge', 'Error', 'LOST', 'Map', 'Neighbour', 'Peer', 'STOP', 'Step', 'WORK',
           'steps', 'version']

E_STATE, E_BUSY = 8, 15       # of Error.code, which callers look at; the others are in lbmap.h
WORK, STOP, LOST = 0, 1, 2    # what Map.lease() says

Neighbour = namedtuple('Neighbour', 'vertex weight state')
Step = namedtuple('Step', 'vertex step state neighbours')


class Error(Exception):
    """A call failed; code is an enum lbmap_error of lbmap.h."""

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


_loaded = None


def _library():
    global _loaded
    if _loaded is not None:
        return _loaded
    library = ctypes.CDLL('liblbmap.so.0')
    library.lbmap_version.restype = ctypes.c_char_p
    library.lbmap_message.restype = ctypes.c_char_p
    library.lbmap_host.restype = library.lbmap_vertices.restype = ctypes.c_uint32
    library.lbmap_close.restype = None
    pointer, text, size, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint32
    for name, arguments in {
            'steps': [ctypes.POINTER(_Program), text, size], 'message': [pointer], 'host': [pointer],
            'vertices': [pointer], 'close': [pointer], 'open': [text, ctypes.POINTER(pointer)],
            'attach': [pointer, text], 'set_timeout': [pointer, ctypes.c_uint],
            'owned': [pointer, ctypes.POINTER(ctypes.POINTER(_Vertex)), ctypes.POINTER(size)],
            'locate': [pointer, pointer, size, pointer, pointer],
            'serve': [pointer, ctypes.POINTER(_Callbacks)], 'dispatch': [pointer, ctypes.c_uint],
            'lease_valid': [pointer], 'checkpoint': [pointer, pointer, size],
            'checkpoint_start': [pointer, pointer, size],
            'checkpoint_done': [pointer, ctypes.POINTER(ctypes.c_int)], 'report_load': [pointer, pointer, size],
            'set_load': [pointer, pointer, size], 'publish': [pointer, text, size],
            'post': [pointer, number, text, size], 'finish': [pointer],
            'send': [pointer, number, number, number, text, size], 'new_vertices': [pointer, pointer, size],
            'change': [pointer, pointer, size, pointer, size], 'count': [pointer, number, number, ctypes.c_double],
            'follow_counts': [pointer, ctypes.c_double]}.items():
        getattr(library, 'lbmap_' + name).argtypes = arguments
    _loaded = library
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


# ---- messages, checkpoints, changes: lbmap.h ------------------------------------------------------------------------

Edge = namedtuple('Edge', 'other weight host')
Edge.__doc__ = 'An edge of a vertex as its owner has it; host is None while it is not known.'
Peer = namedtuple('Peer', 'host finished name address note')
Change = namedtuple('Change', 'vertex near work removed payload', defaults=(0, 0, False, None))
Change.__doc__ = """What becomes of a vertex that is held, or of a new one (Map.new_vertices) next to `near`."""

_NOWHERE = 0xffffffff


class _Vertex(ctypes.Structure):
    _fields_ = [('id', ctypes.c_uint32), ('token', ctypes.c_uint64)]


class _Payload(ctypes.Structure):
    _fields_ = [('bytes', ctypes.c_void_p), ('len', ctypes.c_size_t)]


class _Edge(ctypes.Structure):
    _fields_ = [('other', ctypes.c_uint32), ('weight', ctypes.c_uint32), ('host', ctypes.c_uint32)]


class _Peer(ctypes.Structure):
    _fields_ = [('host', ctypes.c_uint32), ('finished', ctypes.c_int), ('name', ctypes.c_char_p),
                ('address', ctypes.c_char_p), ('note', ctypes.c_void_p), ('note_len', ctypes.c_size_t)]


class _State(ctypes.Structure):
    _fields_ = [('vertex', ctypes.c_uint32), ('token', ctypes.c_uint64), ('payload', _Payload)]


class _Load(ctypes.Structure):
    _fields_ = [('vertex', ctypes.c_uint32), ('token', ctypes.c_uint64), ('load', ctypes.c_double)]


class _VertexChange(ctypes.Structure):
    _fields_ = [('vertex', ctypes.c_uint32), ('token', ctypes.c_uint64), ('near', ctypes.c_uint32),
                ('work', ctypes.c_uint32), ('removed', ctypes.c_int), ('payload', _Payload)]


class _EdgeChange(ctypes.Structure):
    _fields_ = [('vertex', ctypes.c_uint32), ('other', ctypes.c_uint32), ('weight', ctypes.c_uint32)]


_c, _u, _t, _n = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t
_WITH_PAYLOAD = ctypes.CFUNCTYPE(None, _c, _u, _t, ctypes.POINTER(_Payload))
_REVOKED = ctypes.CFUNCTYPE(None, _c, _u, _t)
_EDGES = ctypes.CFUNCTYPE(None, _c, _u, _t, ctypes.POINTER(_Edge), _n)
_PEER_UP = ctypes.CFUNCTYPE(None, _c, ctypes.POINTER(_Peer))
_PEER_DOWN = ctypes.CFUNCTYPE(None, _c, _u)
_MESSAGE = ctypes.CFUNCTYPE(None, _c, _u, _c, _n)
_DELIVER = ctypes.CFUNCTYPE(None, _c, _u, _u, _u, _c, _n)
_MOVED = ctypes.CFUNCTYPE(None, _c, _u, _u)


class _Callbacks(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('context', ctypes.c_void_p), ('acquire', _WITH_PAYLOAD),
                ('release', _WITH_PAYLOAD), ('revoked', _REVOKED), ('edges', _EDGES), ('peer_up', _PEER_UP),
                ('peer_down', _PEER_DOWN), ('message', _MESSAGE), ('deliver', _DELIVER), ('send_kept', ctypes.c_int),
                ('vertex_moved', _MOVED)]


class Map:
    """A connection to the daemon of this host, about one job. One thread at a time may use it.

    Every call raises Error where lbmap.h names an error; code E_BUSY asks to dispatch and try again.
    held: {vertex: token} of what the program holds, as of the last dispatch.
    """

    def __init__(self, job, socket=None, timeout=30):
        """Connect, and attach the job. timeout: seconds that a call may take."""
        self._library, self._map, self.held = _library(), ctypes.c_void_p(), {}
        self._callbacks, self._raised, self._released, self._kept = None, [], [], None
        code = self._library.lbmap_open(socket.encode() if socket else None, ctypes.byref(self._map))
        if code:
            text = self._library.lbmap_strerror
            text.restype = ctypes.c_char_p
            raise Error(code, f'{socket or "the daemon of this host"}: {text(code).decode()}')
        try:
            self._call('set_timeout', max(1, int(timeout * 1000)))
            self._call('attach', job.encode())
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Close the connection; what is held goes to others."""
        self._library.lbmap_close(self._map)
        self._map = ctypes.c_void_p()
        self.held.clear()

    def _call(self, name, *arguments):
        code = getattr(self._library, 'lbmap_' + name)(self._map, *arguments)
        if code:
            raise Error(code, self._library.lbmap_message(self._map).decode(errors='replace'))

    @property
    def host(self):
        """Id of this host."""
        return self._library.lbmap_host(self._map)

    @property
    def vertices(self):
        """Number of vertices of the job as it was submitted."""
        return self._library.lbmap_vertices(self._map)

    def owned(self):
        """[(vertex, token)] of this host, by vertex."""
        vertices, n = ctypes.POINTER(_Vertex)(), ctypes.c_size_t()
        self._call('owned', ctypes.byref(vertices), ctypes.byref(n))
        found = [(v.id, v.token) for v in vertices[:n.value]]
        free = ctypes.CDLL(None).free
        free.argtypes, free.restype = [ctypes.c_void_p], None
        free(vertices)
        return found

    def locate(self, vertices):
        """Hosts of these vertices, in their order; None: no host that answered owns it at the moment."""
        vertices = list(vertices)
        numbers = ctypes.c_uint32 * len(vertices)
        host = numbers()
        self._call('locate', numbers(*vertices), len(vertices), host, None)
        return [None if h == _NOWHERE else h for h in host]

    def serve(self, acquire, release, revoked, *, edges=None, peer_up=None, peer_down=None, message=None, deliver=None,
              send_kept=False, vertex_moved=None):
        """Serve the job: these functions are called by dispatch() alone.

        acquire(vertex, payload); release(vertex) -> payload, or None: as it was kept last; revoked(vertex);
        edges(vertex, [Edge]); peer_up(Peer); peer_down(host); message(host, bytes);
        deliver(vertex, sender, tag, bytes); vertex_moved(vertex, host).
        """
        def guard(function):
            def guarded(_context, *arguments):
                try:
                    function(*arguments)
                except BaseException as error:  # it cannot pass through C
                    self._raised.append(error)
            return guarded

        def on_acquire(vertex, token, payload):
            self.held[vertex] = token
            acquire(vertex, ctypes.string_at(payload.contents.bytes, payload.contents.len))

        def on_release(vertex, _token, payload):
            self.held.pop(vertex, None)
            kept = release(vertex)
            if kept is not None:
                payload.contents.bytes, payload.contents.len = self._payload(kept, self._released)

        def on_revoked(vertex, _token):
            self.held.pop(vertex, None)
            revoked(vertex)

        def on_edges(vertex, _token, edge, n):
            edges(vertex, [Edge(e.other, e.weight, None if e.host == _NOWHERE else e.host) for e in edge[:n]])

        def on_peer_up(pointer):
            p = pointer.contents
            peer_up(Peer(p.host, bool(p.finished), p.name.decode(), p.address.decode(),
                         ctypes.string_at(p.note, p.note_len)))

        callbacks = _Callbacks(size=ctypes.sizeof(_Callbacks), acquire=_WITH_PAYLOAD(guard(on_acquire)),
                               release=_WITH_PAYLOAD(guard(on_release)), revoked=_REVOKED(guard(on_revoked)),
                               send_kept=bool(send_kept))
        if edges is not None:
            callbacks.edges = _EDGES(guard(on_edges))
        if peer_up is not None:
            callbacks.peer_up = _PEER_UP(guard(on_peer_up))
        if peer_down is not None:
            callbacks.peer_down = _PEER_DOWN(guard(peer_down))
        if message is not None:
            callbacks.message = _MESSAGE(guard(lambda host, bytes, n: message(host, ctypes.string_at(bytes, n))))
        if deliver is not None:
            callbacks.deliver = _DELIVER(guard(
                lambda to, sender, tag, bytes, n: deliver(to, sender, tag, ctypes.string_at(bytes, n))))
        if vertex_moved is not None:
            callbacks.vertex_moved = _MOVED(guard(vertex_moved))
        self._call('serve', ctypes.byref(callbacks))
        self._callbacks = callbacks  # C calls them as long as the connection lives

    def dispatch(self, seconds=0.0):
        """Wait up to that long for what the daemon has to say, and call the functions of serve().
        Raises what one of them raised."""
        try:
            self._call('dispatch', int(seconds * 1000))
        finally:
            self._released.clear()
            if self._raised:
                raised, self._raised = self._raised[0], []
                raise raised

    def lease(self):
        """WORK: a step of at most 2 s may begin. STOP: not now. LOST: what was held is; dispatch."""
        return self._library.lbmap_lease_valid(self._map)

    @staticmethod
    def _payload(data, keep):
        """(address, length) of bytes that stay where they are as long as `keep` has them."""
        data = bytes(data)
        buffer = ctypes.c_char_p(data)
        keep.append((data, buffer))
        return ctypes.cast(buffer, ctypes.c_void_p).value, len(data)

    def _states(self, payloads, keep):
        states = (_State * len(payloads))()
        for state, (vertex, payload) in zip(states, payloads.items()):
            state.vertex, state.token = vertex, self._token(vertex)
            state.payload = _Payload(*self._payload(payload, keep))
        return states

    def _token(self, vertex):
        token = self.held.get(vertex)
        if token is None:
            raise Error(E_STATE, f'vertex {vertex} is not held')
        return token

    def checkpoint(self, payloads):
        """Keep {vertex: bytes}: they survive the loss of this host once this has returned."""
        self._call('checkpoint', self._states(payloads, []), len(payloads))

    def checkpoint_start(self, payloads):
        """Begin to keep them, and go on meanwhile: dispatch, and ask checkpoint_done()."""
        keep = []
        self._call('checkpoint_start', self._states(payloads, keep), len(payloads))
        self._kept = keep

    def checkpoint_done(self):
        """True once what was started is kept, or if nothing is."""
        done = ctypes.c_int(1)
        try:
            self._call('checkpoint_done', ctypes.byref(done))
        finally:
            if done.value:
                self._kept = None
        return bool(done.value)

    def _loads(self, name, loads):
        held = {vertex: load for vertex, load in loads.items() if vertex in self.held}
        rows = (_Load * len(held))(*(_Load(v, self.held[v], load) for v, load in held.items()))
        self._call(name, rows, len(held))

    def report_load(self, loads):
        """Tell what vertices cost of late, {vertex: load}: measured, so they are smoothed."""
        self._loads('report_load', loads)

    def set_load(self, loads):
        """The same for loads that are known: they hold at once."""
        self._loads('set_load', loads)

    def publish(self, note=b''):
        """Tell a note to all programs of the job, and hear of them (peer_up, peer_down)."""
        self._call('publish', note, len(note))

    def post(self, host, message):
        """Send bytes to the program at that host."""
        self._call('post', host, message, len(message))

    def finish(self):
        """Say that the job is done."""
        self._call('finish')

    def send(self, sender, to, tag=0, message=b''):
        """Send bytes from a vertex that is held to any vertex, once as of the states of both."""
        self._call('send', sender, to, tag, message, len(message))

    def new_vertices(self, n):
        """[n] ids for vertices that change() is going to add."""
        vertices = (ctypes.c_uint32 * n)()
        self._call('new_vertices', vertices, n)
        return list(vertices)

    def change(self, vertices, edges=()):
        """Change vertices [Change] and edges [(vertex, other, weight)], weight 0: there is none: all, or nothing."""
        keep, rows = [], (_VertexChange * len(vertices))()
        for row, change in zip(rows, vertices):
            row.vertex, row.token = change.vertex, self.held.get(change.vertex, 0)
            row.near, row.work, row.removed = change.near, change.work, bool(change.removed)
            if change.payload is not None:
                row.payload = _Payload(*self._payload(change.payload, keep))
        self._call('change', rows, len(rows), (_EdgeChange * len(edges))(*(_EdgeChange(*e) for e in edges)), len(edges))
        for change in vertices:
            if change.removed:
                self.held.pop(change.vertex, None)

    def count(self, vertex, other, amount=1.0):
        """Count what a vertex says to another one, or hears from it."""
        self._call('count', vertex, other, amount)

    def follow_counts(self, unit):
        """Make weights of edges of what was counted: 1 for each unit a second."""
        self._call('follow_counts', unit)
