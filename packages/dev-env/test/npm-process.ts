import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { isAlive, openDatabase, waitUntil } from '@crux/postgres'
import { root } from '../src/files.ts'

export interface NpmProcess {
  npm: ChildProcess
  output: () => string
  ended: Promise<number | null>
  /** Sends the signal to npm, its shell and the scripts, like Ctrl-C in a terminal. */
  pressCtrlC(): void
}

/** Runs an npm script of the checkout, and waits until it reports that Crux is ready, or ends. */
export async function runNpm(words: string[], env: NodeJS.ProcessEnv): Promise<NpmProcess> {
  const npm = spawn('npm', words, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [npm.stdout, npm.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk))
  const ended = new Promise<number | null>((resolve) => npm.once('exit', (code) => resolve(code)))
  await Promise.race([waitUntil(() => /Crux is ready|does not start/.test(output), 180_000), ended])
  return {
    npm,
    output: () => output,
    ended,
    pressCtrlC: () => void process.kill(-(npm.pid ?? 0), 'SIGINT'),
  }
}

/** The processes of this data directory: the scripts, the services, PostgreSQL. */
export function listProcesses(dataDir: string): { pid: number; what: string }[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .flatMap((pid) => {
      try {
        const what = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        const mine = readFileSync(`/proc/${pid}/environ`, 'utf8').includes(dataDir) || what.includes(dataDir)
        return mine && isAlive(pid) ? [{ pid, what }] : []
      } catch {
        return []
      }
    })
}

export async function queryDatabase(dataDir: string, sql: string): Promise<string> {
  const database = openDatabase({ url: readFileSync(`${dataDir}/secrets/database-url`, 'utf8').trim() })
  const { rows } = await database.pool.query(sql)
  await database.close()
  return JSON.stringify(rows)
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
