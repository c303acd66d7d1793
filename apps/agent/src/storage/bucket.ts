import { Agent as HttpAgent, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { AwsV4Signer } from 'aws4fetch'
import { getJudged } from '../net/get-judged.ts'
import { parseListing } from './listing.ts'
import { StorageError, toNetworkError, toStorageError } from './storage-error.ts'

export interface ObjectContent {
  body: IncomingMessage
  size: number
  modifiedAt: Date
}

export interface BucketAccess {
  /** "https://s3.example.com" */
  url: string
  /** Both empty: public. */
  accessKey: string
  secretKey: string
  bucket: string
}

const documentBytesMax = 16 * 1_024 * 1_024

/** One bucket of an S3 server, for reading. Addressed by path, which every server supports. Errors are StorageErrors. */
export class Bucket {
  readonly #access: BucketAccess
  readonly #signal: AbortSignal
  readonly #base: URL
  readonly #agent: HttpAgent
  /** The region of the bucket, when the server has sent it; before that the signer derives it from the host's name. */
  #region: string | undefined

  constructor(access: BucketAccess, signal: AbortSignal) {
    this.#access = access
    this.#signal = signal
    this.#base = new URL(access.url)
    this.#agent = new (this.#base.protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true })
  }

  /** The host that is asked, for messages. */
  get host() {
    return this.#base.host
  }

  /** Objects whose key has this prefix, in pages. */
  async *list(prefix: string) {
    const query = { 'list-type': '2', 'encoding-type': 'url', ...(prefix === '' ? {} : { prefix }) }
    let next: string | undefined
    do {
      const path = encoded(this.#access.bucket)
      const answer = await this.#get(path, next ? { ...query, 'continuation-token': next } : query)
      const page = getPage(await this.#getText(answer))
      yield page.objects
      // A server that does not support the token starts again each time, and the listing would fill the memory.
      if (page.next !== undefined && page.next === next)
        throw new StorageError('the storage lists the same page again and again')
      next = page.next
    } while (next !== undefined)
  }

  /** The object's content, at the pace of the caller. */
  async read(key: string): Promise<ObjectContent> {
    const body = await this.#get(`${encoded(this.#access.bucket)}/${key.split('/').map(encoded).join('/')}`)
    const modifiedAt = new Date(body.headers['last-modified'] ?? '')
    const size = Number(body.headers['content-length'] ?? Number.NaN)
    if (Number.isNaN(size) || Number.isNaN(modifiedAt.getTime())) {
      body.destroy()
      throw new StorageError('the storage sends an object without size or time')
    }
    return { body, size, modifiedAt }
  }

  close() {
    this.#agent.destroy()
  }

  async #get(path: string, query: Record<string, string> = {}): Promise<IncomingMessage> {
    const answer = await this.#send(path, query)
    if (answer.statusCode === 200) return answer
    const document = await this.#getText(answer)
    const reported = answer.headers['x-amz-bucket-region'] ?? /<Region>([a-z0-9-]{1,64})<\/Region>/.exec(document)?.[1]
    if (typeof reported === 'string' && this.#region === undefined) {
      this.#region = reported
      return this.#get(path, query)
    }
    throw toStorageError(answer.statusCode ?? 0, document)
  }

  async #send(path: string, query: Record<string, string>): Promise<IncomingMessage> {
    const target = new URL(this.#base)
    target.pathname = `${this.#base.pathname.replace(/\/$/, '')}/${path}`
    target.search = new URLSearchParams(query).toString().replaceAll('+', '%20')
    return getJudged(target, {
      agent: this.#agent,
      headers: await signed(target, this.#access, this.#region),
      signal: this.#signal,
      what: 'a storage',
      toAddressError,
      toConnectionError: (error) => toNetworkError(error, this.host),
    })
  }

  async #getText(answer: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = []
    let size = 0
    try {
      for await (const chunk of answer) {
        chunks.push(chunk)
        size += chunk.length
        if (size > documentBytesMax) throw new StorageError('the storage answers too much')
      }
    } catch (error) {
      throw this.#signal.aborted ? this.#signal.reason : toNetworkError(error, this.host)
    }
    return Buffer.concat(chunks).toString('utf8')
  }
}

function getPage(document: string): ReturnType<typeof parseListing> {
  try {
    return parseListing(document)
  } catch (cause) {
    throw new StorageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

async function signed(
  target: URL,
  { accessKey, secretKey }: BucketAccess,
  region: string | undefined,
): Promise<Record<string, string>> {
  if (accessKey === '' && secretKey === '') return {}
  const { headers } = await new AwsV4Signer({
    method: 'GET',
    url: target.href,
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    service: 's3',
    ...(region ? { region } : {}),
  }).sign()
  return Object.fromEntries(headers)
}

/** Encodes as the signature requires it: everything but letters, digits and -._~ (RFC 3986). */
function encoded(part: string): string {
  return encodeURIComponent(part).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

const toAddressError = (address: string) => new StorageError(`${address} is not an address of a storage`)
