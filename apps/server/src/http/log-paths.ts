/** The address of a request for logs. That of a Docker Hub hook contains a secret, because Docker Hub sends no header. */
export const withoutSecrets = (path: string): string => path.replace(/(\/hooks\/[^/?#]*\/)[^?#]+/gi, '$1[redacted]')
