import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

const stepMs = 30_000
/** The maximum time to fill in and submit a page, also on a busy machine. */
const sentWithinMs = 12_000

/**
 * The code of an authenticator app for a secret (RFC 6238, six digits, 30 s), some steps from now. Waits for the next step if the current one ends so
 * soon that the code could arrive in another one.
 */
export async function totp(secret: string, steps = 0): Promise<string> {
  const leftMs = stepMs - (Date.now() % stepMs)
  if (leftMs < sentWithinMs) await delay(leftMs)
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / stepMs) + steps))
  const digest = createHmac('sha1', key).update(counter).digest()
  const code = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fffffff
  return String(code % 1_000_000).padStart(6, '0')
}
