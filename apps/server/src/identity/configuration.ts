import { Configuration } from '@ory/kratos-client'

/**
 * The address of the identity service's admin API. Our service requires a token; Ory Kratos has none and relies on its
 * own network.
 */
export type AdminAddress = { adminUrl: string; adminToken: string | undefined }

/**
 * The address of the public API, and the secret that proves to our service that a request comes from its server; Ory
 * Kratos ignores it.
 */
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
