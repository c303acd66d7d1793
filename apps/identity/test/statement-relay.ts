import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A proxy between the service and PostgreSQL that records the executed statements in order. Tests count the work of a request this way, so they do
 * not measure time.
 */
export async function startStatementRelay(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const executed: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(Number(target.port || 5432), target.hostname)
    sockets.add(client).add(database)
    const read = statementReader((text) => executed.push(text))
    client.on('data', (chunk: Buffer) => {
      read(chunk)
      database.write(chunk)
    })
    database.on('data', (chunk: Buffer) => client.write(chunk))
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    /** The statements that `work` caused, without those that send mails in the background. */
    async during(work: () => Promise<unknown>): Promise<string[]> {
      executed.length = 0
      await work()
      return executed.filter(
        (text) => !/skip locked|(delete|now\(\)\)::float8 \* 1000) from "identity"\."mail_outbox"/i.test(text),
      )
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Parses the messages of a PostgreSQL client (protocol 3): Parse contains texts, and each Bind executes one of them. */
function statementReader(heard: (text: string) => void): (chunk: Buffer) => void {
  const prepared = new Map<string, string>()
  let rest: Buffer = Buffer.alloc(0)
  let started = false
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      // The first message has no type.
      const header = started ? 1 : 0
      if (rest.length < header + 4) return
      const length = rest.readInt32BE(header)
      if (rest.length < header + length) return
      const type = started ? String.fromCharCode(rest[0] ?? 0) : ''
      const strings = rest
        .subarray(header + 4, header + length)
        .toString('latin1')
        .split('\0')
      rest = rest.subarray(header + length)
      started = true
      if (type === 'Q') heard(strings[0] ?? '')
      if (type === 'P') prepared.set(strings[0] ?? '', strings[1] ?? '')
      if (type === 'B') heard(prepared.get(strings[1] ?? '') ?? '')
    }
  }
}
