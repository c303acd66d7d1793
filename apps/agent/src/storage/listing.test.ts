import { expect, test } from 'vitest'
import { parseListing } from './listing.ts'

const object = (key: string, more = '') =>
  `<Contents>${more}<Key>${key}</Key><LastModified>2026-01-02T03:04:05.678Z</LastModified><ETag>&quot;e&quot;</ETag><Size>12</Size></Contents>`
const page = (content: string) =>
  `<?xml version="1.0"?>\n<ListBucketResult xmlns="http://s3">${content}</ListBucketResult>`

test('a bucket listing returns keys as they are including entities and numbers', () => {
  const { objects, next } = parseListing(
    page(`<IsTruncated>false</IsTruncated>${object('a&lt;b&amp;c&#252;&#x1F600;+%41')}`),
  )
  expect(objects).toEqual([{ key: 'a<b&cü😀+%41', size: 12, modifiedAt: new Date('2026-01-02T03:04:05.678Z') }])
  expect(next).toBeUndefined()
})

test('a bucket listing decodes keys where the server declares them as encoded', () => {
  expect(parseListing(page(`<EncodingType>url</EncodingType>${object('a+b%2Bc/%C3%BC')}`)).objects[0]?.key).toBe(
    'a b+c/ü',
  )
})

test('a bucket listing reads the end of a page from the page and not from the content of an object', () => {
  const content = `${object('a', '<IsTruncated>true</IsTruncated>')}<IsTruncated>false</IsTruncated>`
  expect(parseListing(page(content)).next).toBeUndefined()
  const cut = page(
    `<IsTruncated>true</IsTruncated><NextContinuationToken>t&amp;1</NextContinuationToken>${object('a')}`,
  )
  expect(parseListing(cut).next).toBe('t&1')
})

test.each([
  ['a page of another kind', '<html><body>hello</body></html>'],
  [
    'an object without a size',
    page('<Contents><Key>a</Key><LastModified>2026-01-02T03:04:05Z</LastModified></Contents>'),
  ],
  ['an object with a bad time', page(object('a').replace(/2026[^<]*/, 'yesterday'))],
  ['a page that does not say where it goes on', page('<IsTruncated>true</IsTruncated>')],
])('a bucket listing refuses %s', (_, document) => {
  expect(() => parseListing(document)).toThrow(/the storage/)
})
