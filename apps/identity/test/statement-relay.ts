import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * Stands between the service and PostgreSQL and writes down the statements that are executed, in order. What is counted is the work
 * that a request makes, so tests need no clock.
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
    /** The statements that `work` caused, without those by which mails are sent in the background. */
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

/** Reads what a client of PostgreSQL sends (protocol 3): texts come with Parse, and each Bind executes one of them. */
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
