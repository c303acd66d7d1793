import { badRequest } from '../http/errors.ts'

/**
 * Resolves where a browser wants to go after a flow. Only the console's own pages are allowed; the address is read as
 * browsers read it (WHATWG), so that no way of writing `//evil.test` slips through.
 *
 * @returns the absolute address, undefined when none was asked for
 * @throws IdentityError 400 when the address is not readable or not ours
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
