/** Answers its text over HTTP, and ends at once on SIGTERM. */
export const serve = (text: string) => ({
  commands: [{ key: '/bin/sh' }, { key: '-c' }],
  args: [
    {
      key: `mkdir -p /tmp/www; echo ${text} > /tmp/www/index.html; trap 'exit 0' TERM; httpd -f -p 8080 -h /tmp/www & wait`,
    },
  ],
})

export const shell = (script: string) => ({ commands: [{ key: '/bin/sh' }, { key: '-c' }], args: [{ key: script }] })

export const ports = [{ internal: 8080, external: 80 }]
