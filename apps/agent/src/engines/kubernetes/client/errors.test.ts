import { describe, expect, test } from 'vitest'
import { NoAnswerError, toApiError } from './api-error.ts'
import { translate, translateLog } from './errors.ts'

const asked = { verb: 'create', kind: 'Deployment', namespace: 'demo', name: 'web' } as const
const failing = (code: number, reason: string, message: string) =>
  translate(toApiError(code, { code, reason, message }), asked)

describe('an error of the cluster', () => {
  test.each([
    [
      'of an admission webhook is repeated in its words',
      403,
      'Forbidden',
      'admission webhook "policy.example.com" denied the request: no root',
      'refused',
      ['refuses to create the Deployment web in the namespace demo', 'denied the request: no root'],
    ],
    [
      'of a conversion webhook that does not answer is not one of the API server',
      500,
      'InternalError',
      'conversion webhook for monitoring.example.com/v1, Kind=Probe failed: Post "https://monitor.example.svc:443/convert?timeout=30s": EOF',
      'webhook-unavailable',
      ['its conversion webhook for monitoring.example.com/v1, Kind=Probe does not answer'],
    ],
    [
      'of credentials that the cluster does not accept says what to check',
      401,
      'Unauthorized',
      'Unauthorized',
      'refused',
      ['check the kubeconfig or the service account'],
    ],
  ] as const)('%s', (_, code, reason, words, kind, parts) => {
    const error = failing(code, reason, words)
    expect(error.kind).toBe(kind)
    for (const part of parts) expect(error.message).toContain(part)
  })

  test('that passes counts as unavailable, so that work is repeated', () => {
    for (const code of [429, 502, 503, 504]) expect(failing(code, '', '').kind).toBe('unavailable')
    expect(failing(500, 'InternalError', 'etcdserver: leader changed').kind).toBe('unavailable')
    expect(failing(500, 'InternalError', 'no idea').kind).toBe('other')
    expect(translate(new NoAnswerError('no answer within 40 s'), asked).kind).toBe('unavailable')
    expect(translate(Object.assign(new Error('x'), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }), asked).kind).toBe(
      'unavailable',
    )
  })

  test('of an admission webhook that does not answer names it, and is not one of the API server', () => {
    const call =
      'failed to call webhook: Post "https://ingress-nginx-controller-admission.ingress-nginx.svc:443/networking/v1/ingresses?timeout=10s"'
    for (const reason of [
      'no endpoints available for service "ingress-nginx-controller-admission"',
      'service "ingress-nginx-controller-admission" not found',
      'dial tcp 10.96.0.5:443: connect: connection refused',
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
      'context deadline exceeded',
    ]) {
      const words = `Internal error occurred: failed calling webhook "validate.nginx.ingress.kubernetes.io": ${call}: ${reason}`
      const { kind, message } = failing(500, 'InternalError', words)
      expect(kind).toBe('webhook-unavailable')
      expect(message).toMatch(
        /^The cluster could not create the Deployment web in the namespace demo: its admission webhook validate\.nginx\.ingress\.kubernetes\.io does not answer\./,
      )
      expect(message).toContain(reason)
    }
  })

  test('that repeats an address with a timeout is no timeout', () => {
    expect(failing(500, 'InternalError', 'Post "https://example.com/?timeout=10s": EOF').kind).toBe('other')
    expect(failing(500, 'InternalError', 'etcdserver: request timed out').kind).toBe('unavailable')
    expect(failing(500, 'Timeout', 'Timeout: request did not complete').kind).toBe('unavailable')
  })

  test('of this program is none of the cluster', () => {
    expect(translate(new TypeError('x is undefined'), asked).kind).toBe('other')
  })

  test('about a log that does not exist yet is no error', () => {
    const waiting = { code: 400, message: 'container "web" in pod "web-1" is waiting to start: ContainerCreating' }
    const pod = { verb: 'get', kind: 'Pod', namespace: 'demo', name: 'web-1' } as const
    expect(translateLog(toApiError(400, waiting), pod)).toBe('empty')
    const gone = { code: 400, message: 'previous terminated container "web" in pod "web-1" not found' }
    expect(translateLog(toApiError(400, gone), pod)).toMatchObject({ kind: 'not-found' })
  })

  test('of a machine that does not deliver a log counts as unavailable, so that the log is followed when it is back', () => {
    const pod = { verb: 'get', kind: 'Pod', namespace: 'demo', name: 'web-1' } as const
    for (const reason of ['connect: connection refused', 'connect: no route to host', 'i/o timeout']) {
      const message = `Get "https://10.0.0.4:10250/containerLogs/demo/web-1/web?follow=true": dial tcp 10.0.0.4:10250: ${reason}`
      expect(translateLog(toApiError(500, { code: 500, message }), pod)).toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/^The machine of the Pod web-1 does not answer/),
      })
    }
  })
})
