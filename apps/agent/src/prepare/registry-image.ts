import { createHash } from 'node:crypto'
import { PassThrough, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { manifestTypes } from '@crux/rules'
import { extract } from 'tar-stream'
import { z } from 'zod'
import type { FilesOfImage } from './order.ts'
import { RegistryClient, readAll } from './registry-client.ts'
import { RegistryError, toConnectionError } from './registry-error.ts'

const manifestBytesMax = 4 * 1_024 * 1_024
/** Of all layers together, unpacked: a small archive may unpack to any size. */
const unpackedBytesMax = 64 * 1_024 ** 3

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/)
const Index = z.object({
  manifests: z.array(z.object({ digest, platform: z.object({ os: z.string(), architecture: z.string() }).optional() })),
})
const Layer = z.object({ digest, size: z.number().int().nonnegative(), mediaType: z.string() })
const Manifest = z.object({ layers: z.array(Layer).max(512) })
export type Layer = z.output<typeof Layer>

type Entries = ReturnType<typeof extract>
export type LayerEntry = Entries extends AsyncIterable<infer Entry> ? Entry : never

const architectures: Partial<Record<string, string>> = { x64: 'amd64', arm: 'arm', arm64: 'arm64', ppc64: 'ppc64le' }
const architecture = architectures[process.arch] ?? process.arch

/** An image of a registry, by its digest. Everything that is read of it is what the digest says. Errors are RegistryErrors. */
export class RegistryImage {
  readonly #client: RegistryClient
  readonly #image: Pick<FilesOfImage, 'name' | 'digest'>
  readonly #signal: AbortSignal
  readonly #bytesMax: number
  #unpackedBytes = 0

  /** @param bytesMax of all layers together, unpacked */
  constructor(
    image: Pick<FilesOfImage, 'name' | 'digest' | 'auth'>,
    signal: AbortSignal,
    bytesMax: number = unpackedBytesMax,
  ) {
    this.#bytesMax = bytesMax
    this.#client = new RegistryClient(image.name, image.auth, signal)
    this.#image = image
    this.#signal = signal
  }

  get name(): string {
    return this.#image.name
  }

  /** The layers of the variant for this machine, the lowest first. */
  async listLayers(): Promise<Layer[]> {
    const { name } = this.#image
    const document = await this.#readManifest(this.#image.digest)
    const index = Index.safeParse(document)
    if (!index.success) return this.#toLayers(document)
    const own = index.data.manifests.find(
      ({ platform }) => platform?.os === 'linux' && platform.architecture === architecture,
    )
    if (!own) throw new RegistryError(`the image ${name} has no variant for linux/${architecture}`)
    return this.#toLayers(await this.#readManifest(own.digest))
  }

  /** Calls back with each entry of a layer, in order. An entry that is not read has to be resumed. */
  async readLayer(layer: Layer, visit: (entry: LayerEntry) => Promise<void>): Promise<void> {
    const { host } = this.#client
    const unpack = toUnpack(layer)
    const answer = await this.#client.get(`blobs/${layer.digest}`, '*/*', `a layer of the image ${this.name}`)
    const entries = extract()
    const before = this.#unpackedBytes
    const counted = async function* (this: RegistryImage, chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        this.#unpackedBytes += chunk.length
        if (this.#unpackedBytes > this.#bytesMax) throw new RegistryError(`the image ${this.name} is too large`)
        yield chunk
      }
    }.bind(this)
    const reading = pipeline(answer, verified(layer, host), unpack, counted, entries)
    // Awaited below; without this a broken archive would count as unhandled before that.
    reading.catch(() => undefined)
    try {
      for await (const entry of entries) await visit(entry)
      await reading
    } catch (error) {
      answer.destroy()
      this.#unpackedBytes = before
      this.#signal.throwIfAborted()
      throw await reading.then(
        () => error,
        (cause) => toReadError(error, cause, host),
      )
    }
  }

  close(): void {
    this.#client.close()
  }

  async #readManifest(reference: string): Promise<unknown> {
    const what = `the image ${this.name}@${reference}`
    const answer = await this.#client.get(`manifests/${reference}`, manifestTypes.join(', '), what)
    const bytes = await readAll(answer, manifestBytesMax, this.#client.host)
    if (`sha256:${createHash('sha256').update(bytes).digest('hex')}` !== reference)
      throw new RegistryError(`the registry ${this.#client.host} sends something else than ${what}`)
    try {
      return JSON.parse(bytes.toString('utf8'))
    } catch (cause) {
      throw new RegistryError(`the manifest of ${what} is no JSON`, { cause })
    }
  }

  #toLayers(document: unknown): Layer[] {
    const manifest = Manifest.safeParse(document)
    if (!manifest.success) throw new RegistryError(`the manifest of the image ${this.name} cannot be read`)
    return manifest.data.layers
  }
}

/** What ends the reading is an effect of what broke the connection or the archive, unless it is a failure to write. */
function toReadError(error: unknown, cause: unknown, host: string): unknown {
  if (cause instanceof RegistryError) return cause
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : ''
  if (/^(Z_|ERR_ZSTD|ZSTD_)/.test(code)) return new RegistryError(`a layer is damaged (${code})`, { cause })
  if (/^(E(CONN|PIPE|TIMEDOUT|HOST|NET)\w*|ERR_STREAM_PREMATURE_CLOSE|ERR_SSL\w*)$/.test(code) && error === cause)
    return toConnectionError(cause, host)
  return error
}

function toUnpack({ mediaType }: Layer): Transform {
  if (/[+.]gzip$/.test(mediaType)) return createGunzip()
  if (/\+zstd$/.test(mediaType)) return createZstdDecompress()
  if (/\.tar$/.test(mediaType)) return new PassThrough()
  throw new RegistryError(`layers of the type ${JSON.stringify(mediaType.slice(0, 100))} cannot be read`)
}

function verified({ digest: wanted, size }: Layer, host: string) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const hash = createHash('sha256')
    let received = 0
    for await (const chunk of chunks) {
      received += chunk.length
      if (received > size) break
      hash.update(chunk)
      yield chunk
    }
    if (received < size) throw new RegistryError(`the registry ${host} sends less than it announces`, { passing: true })
    if (received > size || `sha256:${hash.digest('hex')}` !== wanted)
      throw new RegistryError(`the registry ${host} sends another layer than the image has`)
  }
}
