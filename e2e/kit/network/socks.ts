import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const version = 5
const addressTypes = { v4: 1, name: 3, v6: 4 } as const
const noAuthentication = Buffer.of(version, 0)
/** The address that the proxy is bound to, which clients ignore. */
const connected = Buffer.of(version, 0, 0, addressTypes.v4, 0, 0, 0, 0, 0, 0)

/** One connection of a browser through SOCKS 5 (RFC 1928): CONNECT without authentication, which is all that Chromium uses. */
export async function serveSocks(browser: Socket): Promise<void> {
  browser.setNoDelay()
  browser.on('error', () => browser.destroy())
  try {
    const [, methods = 0] = await take(browser, 2)
    await take(browser, methods)
    browser.write(noAuthentication)
    const [, , , type] = await take(browser, 4)
    const host = await takeHost(browser, type)
    const port = (await take(browser, 2)).readUInt16BE()
    join(browser, connect({ host, port, noDelay: true }))
  } catch {
    browser.destroy()
  }
}

function join(browser: Socket, service: Socket): void {
  service.once('connect', () => {
    browser.write(connected)
    browser.pipe(service).pipe(browser)
  })
  // A direct connection would be reset too, so the browser detects it at once.
  service.on('error', () => browser.resetAndDestroy())
  service.on('close', () => browser.destroy())
  browser.on('error', () => service.resetAndDestroy())
  browser.on('close', () => service.destroy())
}

async function takeHost(browser: Socket, type?: number): Promise<string> {
  if (type === addressTypes.v4) return (await take(browser, 4)).join('.')
  if (type !== addressTypes.name) throw new Error(`no address of type ${type} is expected`)
  const [length = 0] = await take(browser, 1)
  return (await take(browser, length)).toString('latin1')
}

async function take(socket: Socket, bytes: number): Promise<Buffer> {
  for (;;) {
    const chunk: Buffer | null = socket.read(bytes)
    if (chunk) return chunk
    if (socket.readableEnded || socket.destroyed) throw new Error('the browser ended in the middle of its request')
    await once(socket, 'readable')
  }
}
