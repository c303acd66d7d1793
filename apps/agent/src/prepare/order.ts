import { z } from 'zod'

/** Where the container of a preparation finds its order, as a file of a Secret that no other container mounts. */
export const orderDirectory = '/crux/order'
export const orderFile = 'order.json'

/** Copies files of an image into the volume. */
const FilesOfImage = z.object({
  kind: z.literal('image'),
  /** Without tag and digest. */
  name: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  /** Absolute and normalised. */
  path: z.string().startsWith('/'),
  /** Whether files that the image does not have stay in the volume. */
  keepFiles: z.boolean(),
  auth: z.object({ serverAddress: z.string(), username: z.string(), password: z.string() }).optional(),
})
export type FilesOfImage = z.output<typeof FilesOfImage>

/** Makes the volume the mirror of a prefix of a bucket. */
const ObjectsOfBucket = z.object({
  kind: z.literal('bucket'),
  url: z.url({ protocol: /^https?$/ }),
  /** Both empty: public. */
  accessKey: z.string(),
  secretKey: z.string(),
  bucket: z.string(),
  /** Empty, or a path that ends with a slash. */
  prefix: z.string(),
})
export type ObjectsOfBucket = z.output<typeof ObjectsOfBucket>

/** What is written into the volumes of a pod before its containers start. */
export const PreparationOrder = z.object({
  /** Certificates that are trusted besides the usual ones, as PEM. */
  authority: z.string().optional(),
  volumes: z.array(
    z.object({
      /** As users know it. */
      name: z.string(),
      /** Where the volume is mounted. */
      directory: z.string().startsWith('/'),
      /** In this order. */
      sources: z.array(z.discriminatedUnion('kind', [FilesOfImage, ObjectsOfBucket])).min(1),
    }),
  ),
})
export type PreparationOrder = z.output<typeof PreparationOrder>
export type PreparedVolume = PreparationOrder['volumes'][number]

/** The values that appear in no message. */
export const listCredentials = ({ volumes }: Pick<PreparationOrder, 'volumes'>): string[] =>
  volumes.flatMap(({ sources }) =>
    sources.flatMap((source) => {
      if (source.kind === 'bucket') return [source.accessKey, source.secretKey]
      const { password = '', username = '' } = source.auth ?? {}
      return password === '' ? [] : [password, Buffer.from(`${username}:${password}`).toString('base64')]
    }),
  )
