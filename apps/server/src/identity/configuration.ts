import { Configuration } from '@ory/kratos-client'

/** Where the admin API of the identity service is. Ours wants a token; a real Ory Kratos is behind a network of its own and has none. */
export type AdminAddress = { adminUrl: string; adminToken: string | undefined }

/** Where the public API is, and what proves to ours that a request comes from its server; an Ory Kratos ignores it. */
export type PublicAddress = { publicUrl: string; proxySecret: string | undefined }

export const proxySecretHeader = 'x-crux-proxy-secret'

export const proxyHeaders = ({ proxySecret }: Pick<PublicAddress, 'proxySecret'>): Record<string, string> =>
  proxySecret === undefined ? {} : { [proxySecretHeader]: proxySecret }

export const publicConfiguration = (address: PublicAddress): Configuration =>
  new Configuration({ basePath: address.publicUrl, baseOptions: { headers: proxyHeaders(address) } })

export const adminConfiguration = ({ adminUrl, adminToken }: AdminAddress): Configuration =>
  new Configuration({
    basePath: adminUrl,
    ...(adminToken && { baseOptions: { headers: { authorization: `Bearer ${adminToken}` } } }),
  })
