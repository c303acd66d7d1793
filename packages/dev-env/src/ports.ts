import { join } from 'node:path'
import { freePort } from '@crux/postgres/embedded'
import { readJson, writeJson } from './files.ts'

/** A requested port that is in use. */
export class PortTakenError extends Error {
  override name = 'PortTakenError'

  constructor(variable: string, port: number) {
    super(
      `${variable} ${port} is already in use by another program; stop it or choose another (example: ${variable}=${port + 1})`,
    )
  }
}

export interface PortWish {
  variable: 'CRUX_PORT' | 'IDENTITY_PUBLIC_PORT' | 'IDENTITY_ADMIN_PORT'
  /** The requested port; 0 is any free port. */
  asked: number | undefined
  fallback: number
  host: string
}

/**
 * Chooses a port: a requested one must be free. Otherwise the default is used, or a free port if the default is in use at the first start. The choice
 * is stored and counts as requested from then on.
 *
 * @param say is called when the default is replaced
 * @throws PortTakenError
 */
export async function choosePort(dataDir: string, wish: PortWish, say: (words: string) => void): Promise<number> {
  const { variable, asked, fallback, host } = wish
  const file = join(dataDir, 'ports.json')
  const stored = readJson<Record<string, number>>(file)
  const wanted = asked ?? stored[variable]
  if (wanted !== undefined) return required(await freePort(wanted, host), variable, wanted)
  const free = await freePort(fallback, host)
  const port = free ?? required(await freePort(0, host), variable, fallback)
  if (free === undefined) say(`Port ${fallback} is taken, so ${variable} is ${port} from now on.`)
  writeJson(file, { ...stored, [variable]: port })
  return port
}

function required(port: number | undefined, variable: string, wanted: number): number {
  if (port === undefined) throw new PortTakenError(variable, wanted)
  return port
}
