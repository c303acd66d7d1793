import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { contract } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiError } from './api-error.ts'
import { createClient, getAddress, queryKey } from './client.ts'

let server: Server
let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void
let baseUrl: string

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString()))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((done) => server.close(done)))

const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(body))

const team = {
  id: '0198c1c2-0000-7000-8000-000000000001',
  name: 'Acme',
  slug: 'acme',
  statistics: { users: 1, projects: 0, nodes: 0, versions: 0, deployments: 0 },
}

describe('a call', () => {
  it('sends method, path and body of the operation and returns the answer', async () => {
    let seen: unknown
    answer = (request, response, body) => {
      seen = [request.method, request.url, request.headers['content-type'], JSON.parse(body)]
      json(response, 201, team)
    }
    const client = createClient({ baseUrl, validate: contract })
    expect(await client.call('teams.create', { body: { name: 'Acme', slug: 'acme' } })).toEqual(team)
    expect(seen).toEqual(['POST', '/api/teams', 'application/json', { name: 'Acme', slug: 'acme' }])
  })

  it('sends the headers that the caller gives, for tools outside a browser', async () => {
    let cookie: string | undefined
    answer = (request, response) => {
      cookie = request.headers.cookie
      json(response, 200, [])
    }
    await createClient({ baseUrl, headers: () => ({ cookie: 'session=1' }) }).call('teams.list')
    expect(cookie).toBe('session=1')
  })

  it('returns undefined for 204', async () => {
    answer = (_, response) => response.writeHead(204).end()
    expect(await createClient({ baseUrl }).call('users.hide-onboarding')).toBeUndefined()
  })

  it('refuses an answer that does not match the contract when it validates', async () => {
    answer = (_, response) => json(response, 200, [{ id: 1 }])
    await expect(createClient({ baseUrl, validate: contract }).call('teams.list')).rejects.toThrow()
    await expect(createClient({ baseUrl }).call('teams.list')).resolves.toEqual([{ id: 1 }])
  })

  it('returns status and headers with request', async () => {
    answer = (_, response) => json(response, 201, {}, { location: '/auth/login?aal=aal2' })
    const reply = await createClient({ baseUrl }).request('auth.logout')
    expect([reply.status, reply.headers.get('location')]).toEqual([201, '/auth/login?aal=aal2'])
  })
})

describe('an error answer', () => {
  const failure = (): Promise<ApiError> =>
    createClient({ baseUrl })
      .call('teams.list')
      .then(
        () => Promise.reject(new Error('it was not refused')),
        (error: unknown) => (error instanceof ApiError ? error : Promise.reject(error)),
      )

  it('contains all fields of the body', async () => {
    const details = [{ property: 'name', error: 'too_small', description: 'short' }]
    answer = (_, response) =>
      json(response, 400, {
        status: 400,
        error: 'invalidArgument',
        property: 'name',
        value: 'x',
        description: 'Too short',
        requestId: 'r1',
        details,
      })
    expect(await failure()).toMatchObject({
      status: 400,
      error: 'invalidArgument',
      property: 'name',
      value: 'x',
      description: 'Too short',
      requestId: 'r1',
      details,
    })
  })

  it('uses the request id of the header where the body has none', async () => {
    answer = (_, response) =>
      json(response, 500, { error: 'internalError', description: 'oops' }, { 'x-request-id': 'r2' })
    expect((await failure()).requestId).toBe('r2')
  })

  it.each(['<html>bad gateway</html>', '', '[]', 'null', '{"error":'])('is UNKNOWN for the body %j', async (body) => {
    answer = (_, response) => response.writeHead(502, { 'content-type': 'application/json' }).end(body)
    expect(await failure()).toMatchObject({ status: 502, error: 'UNKNOWN', description: 'Unknown error' })
  })

  it('is a network error with status 0 when the server does not answer', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1' })
    await expect(client.call('teams.list')).rejects.toMatchObject({
      status: 0,
      error: 'networkError',
      description: 'Network Error',
    })
  })

  it('is a network error too when the connection is lost during an answer', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('[{"id":', () => response.destroy())
    }
    expect(await failure()).toMatchObject({ status: 0, error: 'networkError' })
  })

  it('is reported when no answer arrives within the timeout of the caller', async () => {
    answer = () => {}
    const client = createClient({ baseUrl, timeoutMs: { read: 20, change: 40 } })
    await expect(client.call('teams.list')).rejects.toMatchObject({ status: 0, error: 'noAnswer' })
    await expect(client.call('auth.logout')).rejects.toMatchObject({ status: 0, error: 'unknownOutcome' })
    const abort = new AbortController()
    const call = client.call('teams.list', {}, { signal: abort.signal })
    abort.abort(new Error('gone'))
    await expect(call).rejects.toThrow('gone')
  })

  it('is the abort itself when the caller aborted', async () => {
    answer = () => {}
    const abort = new AbortController()
    const call = createClient({ baseUrl }).call('teams.list', {}, { signal: abort.signal })
    abort.abort(new Error('gone'))
    await expect(call).rejects.toThrow('gone')
  })
})

describe('addresses and keys', () => {
  it('encode parameters, omit absent ones and write dates in UTC', () => {
    const params = { teamSlug: 'a/b', nodeId: 'n' }
    expect(getAddress('nodes.get', { params })).toBe('/api/a%2Fb/nodes/n')
    const query = { skip: 0, take: 10, from: new Date(0), to: undefined }
    expect(getAddress('nodes.audit', { params, query })).toBe(
      '/api/a%2Fb/nodes/n/audit?skip=0&take=10&from=1970-01-01T00%3A00%3A00.000Z',
    )
  })

  it('refuse an empty parameter, which would result in another address', () => {
    expect(() => getAddress('nodes.get', { params: { teamSlug: 'a', nodeId: '' } })).toThrow('nodeId')
  })

  it('begin with the operation, so that all its queries can be invalidated at once', () => {
    expect(queryKey('nodes.list')).toEqual(['nodes.list'])
    expect(queryKey('nodes.list', { params: { teamSlug: 'a' } })).toEqual(['nodes.list', { teamSlug: 'a' }])
  })
})
