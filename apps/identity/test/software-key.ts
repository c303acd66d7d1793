import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'

interface CreationOptions {
  publicKey: { rp: { id: string }; user: { id: string }; challenge: string }
}
interface RequestOptions {
  publicKey: { rpId: string; challenge: string; allowCredentials?: { id: string }[] }
}

/** A security key in software: one credential (P-256, attestation `none`) that counts its uses. */
export class SoftwareKey {
  readonly id = randomBytes(16)
  readonly #key: KeyObject
  readonly #publicKey: KeyObject
  readonly #origin: string
  userHandle = ''
  counter = 0

  constructor(origin: string) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#key = privateKey
    this.#publicKey = publicKey
    this.#origin = origin
  }

  /** The value that a page puts into the form after navigator.credentials.create(). */
  create({ publicKey }: CreationOptions, origin = this.#origin): string {
    this.userHandle = publicKey.user.id
    const length = Buffer.alloc(2)
    length.writeUInt16BE(this.id.length)
    const attested = Buffer.concat([Buffer.alloc(16), length, this.id, this.#coseKey()])
    const authData = Buffer.concat([this.#authenticatorData(publicKey.rp.id, 0x45), attested])
    // CBOR: {"fmt": "none", "attStmt": {}, "authData": bytes}
    const attestation = Buffer.concat([
      Buffer.from([0xa3, 0x63]),
      Buffer.from('fmt'),
      Buffer.from([0x64]),
      Buffer.from('none'),
      Buffer.from([0x67]),
      Buffer.from('attStmt'),
      Buffer.from([0xa0, 0x68]),
      Buffer.from('authData'),
      Buffer.from([0x58, authData.length]),
      authData,
    ])
    return JSON.stringify({
      id: this.id.toString('base64url'),
      rawId: this.id.toString('base64url'),
      type: 'public-key',
      response: {
        attestationObject: attestation.toString('base64url'),
        clientDataJSON: clientData('webauthn.create', publicKey.challenge, origin).toString('base64url'),
      },
    })
  }

  /** The value that a page puts into the form after navigator.credentials.get(). */
  get({ publicKey }: RequestOptions, origin = this.#origin): string {
    this.counter += 1
    const authenticatorData = this.#authenticatorData(publicKey.rpId, 0x05)
    const client = clientData('webauthn.get', publicKey.challenge, origin)
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(client).digest()])
    return JSON.stringify({
      id: this.id.toString('base64url'),
      rawId: this.id.toString('base64url'),
      type: 'public-key',
      response: {
        authenticatorData: authenticatorData.toString('base64url'),
        clientDataJSON: client.toString('base64url'),
        signature: createSign('sha256').update(signed).sign(this.#key).toString('base64url'),
        userHandle: this.userHandle,
      },
    })
  }

  #authenticatorData(rpId: string, flags: number): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.counter)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), counter])
  }

  /** COSE: {1: 2, 3: -7, -1: 1, -2: x, -3: y} */
  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#publicKey.export({ format: 'jwk' })
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      Buffer.from(x, 'base64url'),
      Buffer.from([0x22, 0x58, 0x20]),
      Buffer.from(y, 'base64url'),
    ])
  }
}

function clientData(type: string, challenge: string, origin: string): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}
