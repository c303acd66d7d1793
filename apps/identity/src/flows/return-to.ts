import { badRequest } from '../http/errors.ts'

/**
 * Resolves the address to which a browser returns after a flow. Only pages of the console are allowed. The address is parsed as browsers parse it
 * (WHATWG), so that no spelling of `//evil.test` is accepted.
 *
 * @returns the absolute address, undefined when none was requested
 * @throws IdentityError 400 when the address is malformed or not one of the console
 */
export function resolveReturnTo(returnTo: string | undefined, consoleUrl: string): string | undefined {
  if (returnTo === undefined || returnTo === '') return undefined
  const base = `${consoleUrl}/`
  let url: URL
  try {
    decodeURI(returnTo)
    url = new URL(returnTo, base)
  } catch {
    throw badRequest('Unable to parse the return_to query parameter as an URL.')
  }
  const allowed = url.href.startsWith(base) || url.href === consoleUrl
  if (!allowed || url.username !== '' || url.password !== '')
    throw badRequest(`Requested return_to URL "${returnTo}" is not allowed.`, 'self_service_flow_return_to_forbidden')
  return url.href
}
