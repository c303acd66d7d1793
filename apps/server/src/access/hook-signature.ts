import { createHmac, timingSafeEqual } from 'node:crypto'

/** Whether the text of a body has the signature of the request's header. */
export type VerifyBody = (body: string) => boolean

/** The form of GitHub's header: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
const signature = /^sha256=([0-9a-f]{64})$/

/** The signature of a delivery of GitHub; undefined when it has none. */
export const readSignature = (header: string | string[] | undefined): string | undefined =>
  signature.exec(String(header ?? ''))?.[1]

/** Whether a body was signed with the secret. */
export const isSigned = (given: string, secret: string, body: string): boolean =>
  isEqual(Buffer.from(given, 'hex'), createHmac('sha256', secret).update(body, 'utf8').digest())

/** Compares in a time that reveals nothing but the length. */
export const isEqual = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)
