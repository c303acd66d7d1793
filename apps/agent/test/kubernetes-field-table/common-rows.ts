import { expect } from 'vitest'
import { healthRows, portRows, routeRows } from './network-rows.ts'
import { fileRows, limitRows, processRows, stateRows } from './process-rows.ts'
import { type FieldRow, getPodSpec, getSpec, nodeImage, type RowKit } from './row.ts'

const shell = [{ key: '/bin/sh' }, { key: '-c' }]

/** Fields that both kinds of node apply, as a cluster applies them. */
export async function commonRows(kit: RowKit): Promise<FieldRow[]> {
  return [
    ...(await variableRows(kit)),
    ...processRows(kit),
    ...portRows(),
    ...volumeRows(),
    ...fileRows(kit),
    ...routeRows(kit),
    ...healthRows(),
    ...limitRows(),
    ...stateRows(),
  ]
}

async function variableRows({ seal }: RowKit): Promise<FieldRow[]> {
  return [
    {
      says: 'environment, also with empty and odd values, and with what the cluster would replace',
      config: {
        environment: [
          { key: 'PLAIN', value: 'blue' },
          { key: 'EMPTY', value: '' },
          { key: 'ODD', value: 'a=b "c" $HOME $(PLAIN) ü' },
        ],
      },
      script: 'env',
      check: ({ output }) =>
        expect(output.split('\n')).toEqual(
          expect.arrayContaining(['PLAIN=blue', 'EMPTY=', 'ODD=a=b "c" $HOME $(PLAIN) ü']),
        ),
    },
    {
      says: 'secrets, readable in the container alone and weaker than the environment',
      config: {
        environment: [{ key: 'BOTH', value: 'from-environment' }],
        secrets: [
          { key: 'TOKEN', required: true, value: await seal('very-secret'), encrypted: true },
          { key: 'BOTH', required: false, value: await seal('weaker'), encrypted: true },
          { key: 'UNSET', required: false },
        ],
      },
      script: 'env',
      async check({ agent, name, output, workload }) {
        const lines = output.split('\n')
        expect(lines).toEqual(expect.arrayContaining(['TOKEN=very-secret', 'BOTH=from-environment']))
        expect(lines.some((line) => line.startsWith('UNSET'))).toBe(false)
        expect(workload.annotations['dev.crux.secret.keys']).toBe('TOKEN,BOTH,UNSET')
        const container = { prefix: workload.namespace, name }
        const answer = await agent.server.ask({ case: 'inspectContainer', value: { container } })
        const json = answer.case === 'inspection' ? answer.value.json : ''
        expect(json).toContain(name)
        expect(json).not.toContain('very-secret')
      },
    },
    {
      says: 'initContainers in their order, with and without the configuration of the container',
      config: {
        environment: [{ key: 'COLOUR', value: 'blue' }],
        volumes: [{ name: 'data', path: '/data', type: 'tmp' }],
        initContainers: [
          {
            name: 'first',
            image: nodeImage,
            command: shell,
            args: [{ key: 'echo "first $COLOUR $OWN" > /v/file' }],
            environment: [{ key: 'OWN', value: '$(COLOUR)' }],
            volumes: [{ name: 'data', path: '/v' }],
          },
          {
            name: 'second',
            image: nodeImage,
            useParentConfig: true,
            command: shell,
            args: [{ key: 'echo "second $COLOUR" >> /w/file' }],
            volumes: [{ name: 'data', path: '/w' }],
          },
        ],
      },
      script: 'cat /data/file',
      check: ({ output }) => expect(output.split('\n')).toEqual(['first  $(COLOUR)', 'second blue']),
    },
  ]
}

function volumeRows(): FieldRow[] {
  const claims = ['rwo', 'rwx', 'default'] as const
  return [
    {
      says: 'volumes of every type, with their sizes and classes',
      config: {
        volumes: [
          { name: 'one', path: '/ro', type: 'ro', size: '5Mi' },
          { name: 'two.deep', path: '/rwo', type: 'rwo', size: '1M' },
          { name: 'three', path: '/rwx', type: 'rwx', class: 'standard' },
          { name: 'default', path: '/default' },
          { name: 'fast', path: '/mem', type: 'mem', size: '2Mi' },
          { name: 'scratch', path: '/scratch', type: 'tmp', size: '1M' },
          { name: 'unlimited', path: '/unlimited', type: 'tmp' },
        ],
      },
      script: `for d in ${claims.join(' ')} mem scratch unlimited; do echo x > /$d/x && cat /$d/x; done; touch /ro/x 2>/dev/null || echo read-only; df -k /mem | tail -n 1`,
      async check(seen) {
        const { agent, name, output, workload } = seen
        const lines = output.split('\n')
        expect(lines.slice(0, -1)).toEqual([...Array(6).fill('x'), 'read-only'])
        expect(lines.at(-1)).toMatch(/^tmpfs\s+2048\s/)
        const found = await agent.list('PersistentVolumeClaim', workload.namespace)
        const toClaim = (volume: string) => getSpec(found.find((claim) => claim.name === `${name}-${volume}`))
        expect(toClaim('one')).toMatchObject({
          accessModes: ['ReadOnlyMany'],
          resources: { requests: { storage: '5242880' } },
        })
        expect(toClaim('two.deep')).toMatchObject({
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1M' } },
        })
        expect(toClaim('three')).toMatchObject({ accessModes: ['ReadWriteMany'], storageClassName: 'standard' })
        expect(toClaim('default')).toMatchObject({
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1073741824' } },
        })
        expect(getPodSpec(seen)).toMatchObject({
          volumes: expect.arrayContaining([
            expect.objectContaining({ emptyDir: { medium: 'Memory', sizeLimit: '2097152' } }),
            expect.objectContaining({ emptyDir: { sizeLimit: '1M' } }),
            expect.objectContaining({ emptyDir: {} }),
          ]),
        })
      },
    },
  ]
}
