import type { ResponseInput } from '@crux/contract'
import { type Outbound, OutboundError, type OutboundResponse } from '@crux/service-kit'
import { AwsV4Signer } from 'aws4fetch'

/** The address and keys of a storage; without keys it is public. */
export type StorageAccess = { url: string; keys: { accessKey: string; secretKey: string } | undefined }
type Check = ResponseInput<'storages.check'>

const timeoutMs = 10_000
const bytesMax = 2 * 1024 * 1024
const bucketsMax = 1_000

/** ListBuckets of S3, signed (AWS Signature Version 4) if there are keys. Of the server's response only names are passed on. */
export async function askStorage(outbound: Outbound, access: StorageAccess): Promise<Check> {
  const until = Date.now() + timeoutMs
  try {
    const answer = await ask(outbound, access, until)
    const region = regionIn(answer)
    return judge(region ? await ask(outbound, access, until, region) : answer, access)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { reachable: false, reason: `Could not reach the storage: ${error.message}.` }
  }
}

async function ask(outbound: Outbound, { url, keys }: StorageAccess, until: number, region?: string) {
  const target = `${url}/`
  const signed =
    keys &&
    (await new AwsV4Signer({
      url: target,
      accessKeyId: keys.accessKey,
      secretAccessKey: keys.secretKey,
      service: 's3',
      ...(region && { region }),
    }).sign())
  return outbound.request(target, {
    headers: signed ? Object.fromEntries(signed.headers) : {},
    timeoutMs: Math.max(1, until - Date.now()),
    maxBytes: bytesMax,
  })
}

/** A server that requires its region names it when it refuses the signature of another one. */
function regionIn({ status, body }: OutboundResponse): string | undefined {
  return status === 400 ? /<Region>([a-z0-9-]{1,64})<\/Region>/.exec(body.toString('utf8'))?.[1] : undefined
}

const refusals: Record<string, string> = {
  InvalidAccessKeyId: 'The storage does not know this access key.',
  // The code of Versity's gateway.
  XAdminUserNotFound: 'The storage does not know this access key.',
  SignatureDoesNotMatch: 'The secret key does not fit the access key.',
  RequestTimeTooSkewed: 'The clocks of the storage and of this server differ too much.',
  InvalidToken: 'The storage does not accept these keys.',
  ExpiredToken: 'The keys have expired.',
}

function judge({ status, body, url }: OutboundResponse, { keys }: StorageAccess): Check {
  const text = body.toString('utf8')
  const { host } = new URL(url)
  if (status === 200 && text.includes('<ListAllMyBucketsResult')) return { reachable: true, buckets: bucketsIn(text) }
  const code = /<Error>[\s\S]*?<Code>([A-Za-z]{1,64})<\/Code>/.exec(text)?.[1]
  if (status >= 300 && status < 400)
    return {
      reachable: false,
      reason: `${host} redirects to another address: enter the address of the region that has the buckets.`,
    }
  if (code === 'AccessDenied')
    return { reachable: true, ...(keys && { reason: 'These keys may not list the buckets: enter the name of one.' }) }
  if (code) return { reachable: false, reason: refusals[code] ?? `${host} refuses the request (${code}).` }
  return { reachable: false, reason: `${host} does not answer as an S3 server (${status}).` }
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/**
 * The bucket names in the answer. S3 allows only names that XML does not escape; other servers may allow more, so that
 * entities are decoded.
 */
function bucketsIn(text: string): string[] {
  const names = [...text.matchAll(/<Bucket>[\s\S]*?<Name>([^<]{1,255})<\/Name>/g)].slice(0, bucketsMax)
  return names.map(([, name = '']) => name.replace(/&(amp|lt|gt|quot|apos);/g, (_, entity) => entities[entity] ?? ''))
}
