import { errorCode } from '@crux/service-kit'
import { getMessage } from '../errors.ts'

/** The error of a storage, or the reason why it did not answer, in a sentence for users. */
export class StorageError extends Error {
  override name = 'StorageError'
  /** Whether another attempt may help. */
  readonly passing: boolean

  constructor(message: string, { passing = false, cause }: { passing?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.passing = passing
  }
}

const sentences: Record<string, string> = {
  NoSuchBucket: 'the storage has no bucket of that name',
  NoSuchKey: 'the storage has no such object any more',
  AccessDenied: 'the storage refuses access to the bucket: check its keys and what they may do',
  InvalidAccessKeyId: 'the storage does not know the access key',
  SignatureDoesNotMatch: 'the storage refuses the secret key',
  RequestTimeTooSkewed: "the clock of this node differs too much from the storage's",
}

/** Creates the error from an S3 error document; includes its message only where it is short, because the content is not trusted. */
export function toStorageError(status: number, document: string): StorageError {
  const code = /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(document)?.[1] ?? ''
  const passing = status === 429 || status >= 500 || code === 'RequestTimeout' || code === 'SlowDown'
  const sentence = sentences[code] ?? (status === 403 ? sentences.AccessDenied : undefined)
  return new StorageError(sentence ?? `the storage answers ${status}${code ? ` ${code}` : ''}`, { passing })
}

/** Creates the error from a network error. */
export function toNetworkError(error: unknown, host: string): StorageError {
  if (error instanceof StorageError) return error
  const detail = errorCode(error) || getMessage(error)
  return new StorageError(`the storage at ${host} does not answer (${detail})`, { passing: true, cause: error })
}
