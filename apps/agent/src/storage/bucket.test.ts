import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { Bucket } from './bucket.ts'

test('a listing that starts again without an end is aborted', async () => {
  const object = '<Contents><Key>a</Key><Size>1</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>'
  const page = `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>${object}</ListBucketResult>`
  const server = createServer((_, response) => response.end(page)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const bucket = new Bucket({ url, accessKey: '', secretKey: '', bucket: 'b' }, AbortSignal.timeout(5_000))
  try {
    const read = async () => {
      for await (const objects of bucket.list('')) expect(objects).toHaveLength(1)
    }
    await expect(read()).rejects.toThrow('the storage lists the same page again and again')
  } finally {
    bucket.close()
    server.closeAllConnections()
    server.close()
  }
})
