import { createHash } from 'node:crypto'

/**
 * Reads the recipients of an OpenPGP message from its packets (RFC 9580) without decrypting it. The server has no key
 * for it, and only checks that a stored value is encrypted for one node.
 *
 * @param armored one armoured message without surrounding text and without armour headers, which would be readable text
 * @returns ids of the keys as 16 hexadecimal digits; undefined for anything else than session keys followed by
 *   encrypted data
 */
export function listRecipients(armored: string): string[] | undefined {
  const packets = packetsIn(armored, 'MESSAGE')
  const sealed = packets?.at(-1)
  if (!packets || !sealed || packets.length < 2 || (sealed.tag !== tags.encrypted && sealed.tag !== tags.aead))
    return undefined
  const recipients = packets.slice(0, -1).map(toRecipient)
  return recipients.every((id) => id !== undefined) ? recipients : undefined
}

/** The ids that messages for this public key name: those of its subkeys, or of the key itself if it has none. */
export function listKeyIds(armored: string): string[] {
  const packets = packetsIn(armored, 'PUBLIC KEY BLOCK') ?? []
  const subkeys = packets.filter(({ tag }) => tag === tags.publicSubkey)
  return (subkeys.length > 0 ? subkeys : packets.filter(({ tag }) => tag === tags.publicKey)).flatMap(({ body }) => {
    if (body[0] !== 4) return []
    const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff])
    return [createHash('sha1').update(head).update(body).digest('hex').slice(-16)]
  })
}

const tags = { sessionKey: 1, publicKey: 6, publicSubkey: 14, encrypted: 18, aead: 20 }
type Packet = { tag: number; body: Buffer }

function packetsIn(armored: string, kind: string): Packet[] | undefined {
  const text = armored.trim().replaceAll('\r\n', '\n')
  const [start, end] = [`-----BEGIN PGP ${kind}-----\n\n`, `\n-----END PGP ${kind}-----`]
  if (!text.startsWith(start) || !text.endsWith(end)) return undefined
  const lines = text.slice(start.length, -end.length).split('\n')
  // The checksum is optional and, since RFC 9580, must not be relied on.
  if (/^=[A-Za-z0-9+/]{4}$/.test(lines.at(-1) ?? '')) lines.pop()
  const base64 = lines.join('')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return undefined
  return split(Buffer.from(base64, 'base64'))
}

/** @returns undefined when any of the bytes does not belong to a packet */
function split(bytes: Buffer): Packet[] | undefined {
  const packets: Packet[] = []
  let at = 0
  while (at < bytes.length) {
    const head = bytes[at++] ?? 0
    if ((head & 0x80) === 0) return undefined
    const isNew = (head & 0x40) !== 0
    const chunks: Buffer[] = []
    let more = true
    while (more) {
      const length = isNew ? newLength(bytes, at) : oldLength(bytes, at, head & 0x03)
      if (!length || length.start + length.size > bytes.length) return undefined
      chunks.push(bytes.subarray(length.start, length.start + length.size))
      at = length.start + length.size
      more = length.partial
    }
    packets.push({ tag: isNew ? head & 0x3f : (head >> 2) & 0x0f, body: Buffer.concat(chunks) })
  }
  return packets
}

type Length = { start: number; size: number; partial: boolean } | undefined

function newLength(bytes: Buffer, at: number): Length {
  const first = bytes[at]
  if (first === undefined) return undefined
  if (first < 192) return { start: at + 1, size: first, partial: false }
  if (first >= 224 && first < 255) return { start: at + 1, size: 1 << (first & 0x1f), partial: true }
  if (first < 224) return { start: at + 2, size: ((first - 192) << 8) + (bytes[at + 1] ?? 0) + 192, partial: false }
  return at + 5 > bytes.length ? undefined : { start: at + 5, size: bytes.readUInt32BE(at + 1), partial: false }
}

function oldLength(bytes: Buffer, at: number, kind: number): Length {
  if (kind === 3) return { start: at, size: bytes.length - at, partial: false }
  const octets = 1 << kind
  return at + octets > bytes.length
    ? undefined
    : { start: at + octets, size: bytes.readUIntBE(at, octets), partial: false }
}

/** Returns undefined for a packet that is no session key, and for a session key that hides its recipient. */
function toRecipient({ tag, body }: Packet): string | undefined {
  if (tag !== tags.sessionKey) return undefined
  // Version 6 names the whole fingerprint of a version 4 key, which ends with the key's id.
  const id = body[0] === 3 ? body.subarray(1, 9) : body[0] === 6 && body[2] === 4 ? body.subarray(15, 23) : undefined
  const hex = id?.toString('hex') ?? ''
  return hex.length === 16 && hex !== '0000000000000000' ? hex : undefined
}
