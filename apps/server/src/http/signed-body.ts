import type { FastifyRequest } from 'fastify'

/** @throws CruxError unauthorized unless the body has the signature that the guard requires */
export async function verifySignedBody(request: FastifyRequest, body: string): Promise<void> {
  await request.passed?.verifyBody?.(body)
  request.bodyVerified = true
}
