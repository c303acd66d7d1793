import { Configuration } from '@ory/kratos-client'

/** Where the admin API of the identity service is. Ours wants a token; a real Ory Kratos is behind a network of its own and has none. */
export type AdminAddress = { adminUrl: string; adminToken: string | undefined }

export const adminConfiguration = ({ adminUrl, adminToken }: AdminAddress): Configuration =>
  new Configuration({
    basePath: adminUrl,
    ...(adminToken && { baseOptions: { headers: { authorization: `Bearer ${adminToken}` } } }),
  })
