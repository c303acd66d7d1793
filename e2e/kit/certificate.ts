import { execFileSync } from 'node:child_process'

/**
 * Writes a certificate of an authority of its own: `ca.pem`, `cert.pem` and `key.pem` in the directory.
 *
 * @param options.names as OpenSSL takes them: `DNS:localhost`, `IP:10.0.0.1`
 */
export function makeCertificate(directory: string, options: { subject: string; names: string }): void {
  const run = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1']
  run('req', '-x509', ...key, '-subj', '/CN=Authority of a test', '-keyout', 'ca.key', '-out', 'ca.pem')
  run(
    ...['req', '-x509', ...key, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-subj', `/CN=${options.subject}`],
    ...['-addext', `subjectAltName=${options.names}`, '-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-keyout', 'key.pem', '-out', 'cert.pem'],
  )
}
