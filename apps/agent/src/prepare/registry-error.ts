import { errorCode } from '@crux/service-kit'
import { getMessage } from '../errors.ts'

/** Why files of an image cannot be read, in a sentence for users. */
export class RegistryError extends Error {
  override name = 'RegistryError'
  /** Whether another attempt may help. */
  readonly passing: boolean

  constructor(message: string, { passing = false, cause }: { passing?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.passing = passing
  }
}

/** Its answers are not trusted, so no text of them is part of the message. */
export function toStatusError(status: number, host: string, what: string): RegistryError {
  if (status === 401 || status === 403)
    return new RegistryError(`the registry ${host} refuses ${what} (${status}): check its credentials`)
  if (status === 404) return new RegistryError(`the registry ${host} does not have ${what} (404)`)
  return new RegistryError(`the registry ${host} answers ${status} for ${what}`, {
    passing: status === 429 || status >= 500,
  })
}

export function toConnectionError(error: unknown, host: string): RegistryError {
  if (error instanceof RegistryError) return error
  const detail = errorCode(error) || getMessage(error)
  return new RegistryError(`the registry ${host} does not answer (${detail})`, { passing: true, cause: error })
}
