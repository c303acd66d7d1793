import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { oidcClient } from '@crux/test-kit'

/** The OAuth and the API of GitHub according to its documentation, below one host like GitHub Enterprise. */
export async function startGitHub(): Promise<{
  url: string
  user: { id: number; login: string; name: string | null }
  emails: { email: string; primary: boolean; verified: boolean; visibility: string | null }[]
  close(): Promise<void>
}> {
  const codes = new Map<string, string>()
  const github = {
    url: '',
    user: { id: 583_231, login: 'octocat', name: 'Mona Lisa Octocat' as string | null },
    emails: [] as { email: string; primary: boolean; verified: boolean; visibility: string | null }[],
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', github.url)
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
    if (url.pathname === '/login/oauth/authorize') {
      const code = crypto.randomUUID()
      codes.set(code, url.searchParams.get('code_challenge') ?? '')
      const back = new URL(url.searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('code', code)
      back.searchParams.set('state', url.searchParams.get('state') ?? '')
      return response.writeHead(302, { location: back.href }).end()
    }
    if (url.pathname === '/login/oauth/access_token') {
      let body = ''
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString()
      })
      request.on('end', () => {
        const form = new URLSearchParams(body)
        const known = codes.delete(form.get('code') ?? '')
        const right =
          form.get('client_id') === oidcClient.clientId && form.get('client_secret') === oidcClient.clientSecret
        // GitHub answers errors with 200, too.
        if (!known || !right) return json(200, { error: 'bad_verification_code', error_description: 'expired' })
        json(200, {
          access_token: 'gho_16C7e42F292c6912E7710c838347Ae178B4a',
          scope: 'user:email',
          token_type: 'bearer',
        })
      })
      return
    }
    if (!/^(Bearer|token) gho_/.test(request.headers.authorization ?? '') || !request.headers['user-agent'])
      return json(401, { message: 'Requires authentication' })
    if (url.pathname === '/api/v3/user') return json(200, { ...github.user, email: null, type: 'User' })
    if (url.pathname === '/api/v3/user/emails') return json(200, github.emails)
    json(404, { message: 'Not Found' })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  github.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return github
}
