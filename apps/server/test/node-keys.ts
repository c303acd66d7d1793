/**
 * Two keys as agents create them. Values that are encrypted for them cannot be decrypted, because their private parts
 * do not exist.
 */
export const keyOne = `-----BEGIN PGP PUBLIC KEY BLOCK-----

xjMEawIEHhYJKwYBBAHaRw8BAQdASVAcJ/4G3qYfCZZXOJf/U5UIdnmQr7dN
vq8kb53wl3nNCkNydXggYWdlbnTCwBMEExYKAIUFgmsCBB4DCwkHCRCxjS2r
VPyoSUUUAAAAAAAcACBzYWx0QG5vdGF0aW9ucy5vcGVucGdwanMub3JnBtPL
GO4r/p09M/50ciOLq2dH7HTrkZiKTHmVaEzfWi0FFQoIDgwEFgACAQIZAQKb
AwIeARYhBJ/RsHGKB3vNeM74JbGNLatU/KhJAABqlAD+KOM8JTpIfgSNrSPv
27axCCCtIti+dZLiVLlNles6EeUA/18Zvc4xbKaaacw7+oUmSjXMGkfw/SM+
GaUgjothAxsDzjgEawIEHhIKKwYBBAGXVQEFAQEHQE6PYx7bIaLl77tW2gUI
3x1/XDWvx7rfSjsCp/Y+ZSlZAwEIB8K+BBgWCgBwBYJrAgQeCRCxjS2rVPyo
SUUUAAAAAAAcACBzYWx0QG5vdGF0aW9ucy5vcGVucGdwanMub3JnfM2SQrHx
b4o+BFnN5K5xI8s2X5YgMlhFP4+1FVw6AYwCmwwWIQSf0bBxigd7zXjO+CWx
jS2rVPyoSQAA4kQA/ixURAvHWmgX0eNQIBz+bzNHaWp9xhX2+gQF8jcDl7P+
AP4t06XHU99rX7i4ROsk/yd7AU/XTASE4lRGvEc2MIlvBg==
=oHzo
-----END PGP PUBLIC KEY BLOCK-----
`
export const keyTwo = `-----BEGIN PGP PUBLIC KEY BLOCK-----

xjMEawIEHhYJKwYBBAHaRw8BAQdAA68WkJwvWX+j9xZ+bkBX5mh1fkWl01X2
TeHqdM3O5znNCkNydXggYWdlbnTCwBMEExYKAIUFgmsCBB4DCwkHCRAO3u5b
rFN7V0UUAAAAAAAcACBzYWx0QG5vdGF0aW9ucy5vcGVucGdwanMub3Jn3J4Q
d2cWNfC+MHeYvC2zg3Bbp7ZNy8EH9GVliuWFIxMFFQoIDgwEFgACAQIZAQKb
AwIeARYhBM3XIEb+TVN8U+z//Q7e7lusU3tXAAA0mAEAz1wOspcGDuivei10
fnvbO4oHh4wpkoDHOXcHDsGVmIcBANH5mgOH6Y2CrIFwOwxoG0gzaOrLc96e
ruj9mHcqv2IFzjgEawIEHhIKKwYBBAGXVQEFAQEHQBhgLutu33SSOW2LkTtJ
qoUtCLOFjOKynqEgxc4ZtNYuAwEIB8K+BBgWCgBwBYJrAgQeCRAO3u5brFN7
V0UUAAAAAAAcACBzYWx0QG5vdGF0aW9ucy5vcGVucGdwanMub3JnFjrmw4x/
qUJ6SEWn7ScvkguAJGBxf9FP8525bSDFgMICmwwWIQTN1yBG/k1TfFPs//0O
3u5brFN7VwAArrgA/jOWAi/aOyzL+IHISMJkICLbkgJLga4L1U4KObfS36nS
AP4rBJITHqTeqBq1emuedNhkJChMqUoeyO2+RXg+QIC9Dg==
=UoDl
-----END PGP PUBLIC KEY BLOCK-----
`

/** A secret's value as a browser encrypts it. */
export async function sealFor(publicKey: string, text: string): Promise<string> {
  const { createMessage, encrypt, readKey } = await import('openpgp')
  const encryptionKeys = await readKey({ armoredKey: publicKey })
  return String(await encrypt({ message: await createMessage({ text }), encryptionKeys }))
}
