import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A pooler of PostgreSQL that gives every statement another session, as poolers in statement mode do. */
export interface StatementPooler {
  readonly port: number
  close(): Promise<void>
}

/** Sessions that take turns. */
const SESSIONS = 3
/** Types of PostgreSQL's messages: the two that end a statement of a client, and the one that ends its answer. */
const ENDS_STATEMENT: ReadonlySet<string> = new Set(['Q', 'S'])
const READY = 'Z'

/** Starts a pooler in front of a PostgreSQL of this machine that asks for no password. */
export async function startStatementPooler(targetPort: number): Promise<StatementPooler> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const keep = (socket: Socket): Socket => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
      return socket
    }
    keep(client)
    const sessions = Array.from({ length: SESSIONS }, () => keep(connect({ host: '127.0.0.1', port: targetPort })))
    client.on('close', () => sessions.forEach((session) => session.destroy()))
    pool(client, sessions)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** Answers a client: its first message goes to all sessions, and each of its statements to the next one. */
function pool(client: Socket, sessions: readonly Socket[]): void {
  const statements: Buffer[] = []
  const starting = new Set(sessions)
  let turn = 0
  let isAnswering = true

  function sendNext(): void {
    const statement = isAnswering ? undefined : statements.shift()
    if (statement === undefined) return
    isAnswering = true
    turn = (turn + 1) % sessions.length
    sessions[turn]!.write(statement)
  }

  function hear(session: Socket, message: Buffer): void {
    const isReady = String.fromCharCode(message[0]!) === READY
    // The client hears one session begin, once all of them have.
    const isHeard = starting.has(session) ? session === sessions[0] && !isReady : session === sessions[turn]
    if (isReady) starting.delete(session)
    if (isHeard) client.write(message)
    if (!isReady || starting.size > 0) return
    if (!isHeard) client.write(message)
    isAnswering = false
    sendNext()
  }

  for (const session of sessions)
    session.on(
      'data',
      createSplitter(true, (message) => hear(session, message)),
    )
  let parts: Buffer[] = []
  const split = createSplitter(false, (message, isFirst) => {
    if (isFirst) return sessions.forEach((session) => session.write(message))
    parts.push(message)
    if (!ENDS_STATEMENT.has(String.fromCharCode(message[0]!))) return
    statements.push(Buffer.concat(parts))
    parts = []
    sendNext()
  })
  client.on('data', split)
}

/** Returns a listener that passes on whole messages. The first one of a client has no type. */
function createSplitter(
  isTyped: boolean,
  onMessage: (message: Buffer, isFirst: boolean) => void,
): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  let typeBytes = isTyped ? 1 : 0
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= typeBytes + 4) {
      const end = typeBytes + rest.readInt32BE(typeBytes)
      if (rest.length < end) return
      const message = rest.subarray(0, end)
      const isFirst = typeBytes === 0
      rest = rest.subarray(end)
      typeBytes = 1
      onMessage(message, isFirst)
    }
  }
}
