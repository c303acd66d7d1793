import { describe, expect, test } from 'vitest'
import { toOwnedManifest } from './owned-fields.ts'

/** Fields as a cluster of version 1.34 records them for a Deployment that two managers have changed. */
const live = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'demo',
    uid: '7f1e',
    labels: { 'dev.crux.instance': 'i1', other: 'x' },
    annotations: { note: 'a', 'deployment.kubernetes.io/revision': '1' },
    managedFields: [
      {
        apiVersion: 'apps/v1',
        fieldsType: 'FieldsV1',
        manager: 'crux',
        operation: 'Apply',
        fieldsV1: {
          'f:metadata': { 'f:annotations': { 'f:note': {} }, 'f:labels': { 'f:dev.crux.instance': {} } },
          'f:spec': {
            'f:replicas': {},
            'f:selector': {},
            'f:template': {
              'f:spec': {
                'f:containers': {
                  'k:{"name":"web"}': {
                    '.': {},
                    'f:image': {},
                    'f:name': {},
                    'f:command': {},
                    'f:ports': {
                      'k:{"containerPort":80,"protocol":"TCP"}': {
                        '.': {},
                        'f:containerPort': {},
                        'f:name': {},
                        'f:protocol': {},
                      },
                    },
                  },
                },
                'f:finalizers': { 'v:"one"': {} },
              },
            },
          },
        },
      },
      { manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:labels': { 'f:other': {} } } } },
      {
        manager: 'crux',
        operation: 'Apply',
        subresource: 'status',
        fieldsV1: { 'f:status': { 'f:replicas': {} } },
      },
    ],
  },
  spec: {
    replicas: 2,
    revisionHistoryLimit: 10,
    selector: { matchLabels: { 'dev.crux.instance': 'i1' } },
    template: {
      spec: {
        restartPolicy: 'Always',
        finalizers: ['one', 'two'],
        containers: [
          { name: 'sidecar', image: 'injected' },
          {
            name: 'web',
            image: 'app@sha256:1',
            command: ['run', '--all'],
            terminationMessagePath: '/dev/termination-log',
            ports: [
              { name: 'p80', containerPort: 80, protocol: 'TCP' },
              { name: 'added', containerPort: 81, protocol: 'TCP' },
            ],
          },
        ],
      },
    },
  },
  status: { replicas: 2 },
}

describe('the manifest that a manager owns', () => {
  test('has the fields of the manager alone, without defaults, status, and what others added', () => {
    expect(toOwnedManifest('Deployment', live, 'crux')).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'web',
        namespace: 'demo',
        labels: { 'dev.crux.instance': 'i1' },
        annotations: { note: 'a' },
      },
      spec: {
        replicas: 2,
        selector: { matchLabels: { 'dev.crux.instance': 'i1' } },
        template: {
          spec: {
            finalizers: ['one'],
            containers: [
              {
                name: 'web',
                image: 'app@sha256:1',
                command: ['run', '--all'],
                ports: [{ name: 'p80', containerPort: 80, protocol: 'TCP' }],
              },
            ],
          },
        },
      },
    })
  })

  test('is undefined for an object that the manager never applied, and for nonsense', () => {
    expect(toOwnedManifest('Deployment', live, 'someone')).toBeUndefined()
    expect(toOwnedManifest('Deployment', live, 'kubectl')).toBeUndefined()
    for (const nonsense of [undefined, null, 'text', [], {}, { apiVersion: 'v1', metadata: { name: 1 } }])
      expect(toOwnedManifest('Deployment', nonsense, 'crux')).toBeUndefined()
  })

  test('leaves out fields whose record does not fit the object', () => {
    const managedFields = [
      {
        manager: 'crux',
        operation: 'Apply',
        fieldsV1: { 'f:spec': { 'f:missing': {}, 'f:containers': { 'k:{broken': { 'f:name': {} }, 'i:0': {} } } },
      },
    ]
    const object = {
      apiVersion: 'v1',
      metadata: { name: 'web', managedFields },
      spec: { containers: [{ name: 'web' }] },
    }
    expect(toOwnedManifest('Pod', object, 'crux')).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: { containers: [] },
    })
  })
})
