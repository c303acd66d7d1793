import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:net'
import { fileURLToPath } from 'node:url'
import { serveSocks } from './socks.ts'

/** The port is inside the namespace, where nothing else listens. */
const socksPort = 1080
const startMs = 10_000

/**
 * Creates a network namespace for the browsers of a run, and forwards their requests to the addresses of this machine. Every container that starts
 * changes the network of this machine, and Chromium then aborts all loading requests (ERR_NETWORK_CHANGED), which would make tests with an engine and
 * a browser on one machine unreliable. Separate tests cover a changing network.
 *
 * @returns the function that removes it
 */
export default async function ownNetwork(): Promise<() => void> {
  // Users other than root can be root within a user namespace.
  const asRoot = process.getuid?.() === 0
  const inside = fileURLToPath(new URL('inside.ts', import.meta.url))
  const unshare = ['--net', ...(asRoot ? [] : ['--user', '--map-root-user'])]
  const child = spawn('unshare', [...unshare, '--', process.execPath, inside, String(socksPort)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  try {
    // The process ends without a message where namespaces are forbidden or a tool is missing; its errors are on the terminal then.
    const ended = once(child, 'exit').then(() => [undefined, undefined])
    const [, server] = await Promise.race([once(child, 'message', { signal: AbortSignal.timeout(startMs) }), ended])
    if (!server) throw new Error('no network namespace')
    ;(server as Server).on('connection', serveSocks)
    const enter = ['nsenter', `--net=/proc/${child.pid}/ns/net`]
    if (!asRoot) enter.push(`--user=/proc/${child.pid}/ns/user`, '--preserve-credentials')
    process.env.CRUX_BROWSER_ENTER = [...enter, '--'].join(' ')
    process.env.CRUX_BROWSER_FLAGS = `--proxy-server=socks5://127.0.0.1:${socksPort} --proxy-bypass-list=<-loopback>`
  } catch (error) {
    console.error(`The browsers share this machine's network, and may be cut off when a container starts: ${error}`)
  }
  return () => child.kill()
}
