import { describe, expect, it, test } from 'vitest'
import { isAllowedAnnotation, kubernetesDangers } from './kubernetes-dangers.ts'

const none = { storageClasses: [] }
const properties = (config: Parameters<typeof kubernetesDangers>[0], storageClasses: readonly string[] = []) =>
  kubernetesDangers(config, { storageClasses }).map(({ property }) => property)

describe('isAllowedAnnotation', () => {
  test.each([
    'nginx.ingress.kubernetes.io/configuration-snippet',
    'nginx.ingress.kubernetes.io/server-snippet',
    'nginx.ingress.kubernetes.io/auth-url',
    'nginx.ingress.kubernetes.io/auth-tls-secret',
    'nginx.ingress.kubernetes.io/permanent-redirect',
    'cni.projectcalico.org/ipAddrs',
    'k8s.v1.cni.cncf.io/networks',
    'iam.amazonaws.com/role',
    'eks.amazonaws.com/role-arn',
    'container.apparmor.security.beta.kubernetes.io/web',
    'seccomp.security.alpha.kubernetes.io/pod',
    'external-dns.alpha.kubernetes.io/hostname',
    'service.beta.kubernetes.io/aws-load-balancer-type',
    'org.systemd.property.SuccessAction',
    'io.kubernetes.cri-o.Devices',
    'io.katacontainers.config.hypervisor.path',
    'cpu-load-balancing.crio.io',
    'unknown.example.com/anything',
    'toString/x',
  ])('refuses %s in every section', (key) => {
    for (const section of ['deployment', 'service', 'ingress'] as const)
      expect(isAllowedAnnotation(section, key)).toBe(false)
  })

  it('allows notes without a slash or a dot, and limits of the own route on an ingress alone', () => {
    expect(isAllowedAnnotation('service', 'contact')).toBe(true)
    expect(isAllowedAnnotation('ingress', 'nginx.ingress.kubernetes.io/proxy-read-timeout')).toBe(true)
    expect(isAllowedAnnotation('service', 'nginx.ingress.kubernetes.io/proxy-read-timeout')).toBe(false)
  })
})

describe('kubernetesDangers', () => {
  it('judges annotations, labels with a domain, load balancers and storage classes', () => {
    const config = {
      annotations: { ingress: [{ key: 'nginx.ingress.kubernetes.io/Server-Snippet', value: 'x' }] },
      labels: { deployment: [{ key: 'sidecar.istio.io/inject', value: 'true' }] },
      useLoadBalancer: true,
      extraLBAnnotations: [{ key: 'a', value: 'b' }],
      volumes: [
        { name: 'a', path: '/a', class: 'fast' },
        { name: 'b', path: '/b', class: 'slow' },
      ],
    }
    expect(properties(config, ['slow'])).toEqual([
      'labels.deployment[0].key',
      'annotations.ingress[0].key',
      'useLoadBalancer',
      'extraLBAnnotations[0].key',
      'volumes[0].class',
    ])
  })

  it('refuses a value with which an allowed annotation would leave its place in a configuration', () => {
    const at = (value: string) =>
      properties({ annotations: { ingress: [{ key: 'nginx.ingress.kubernetes.io/proxy-body-size', value }] } })
    expect(at('10m')).toEqual([])
    expect(at('10m;\n}')).toEqual(['annotations.ingress[0].value'])
  })

  it('names no danger for rows that only remove a key, and for memory', () => {
    expect(
      kubernetesDangers(
        {
          annotations: { service: [{ key: 'eks.amazonaws.com/role-arn', value: null }] },
          labels: { service: [{ key: 'a.example.com/b', value: null }] },
          volumes: [{ name: 'a', path: '/a', type: 'mem', class: 'fast' }],
        },
        none,
      ),
    ).toEqual([])
  })

  it('judges the label without a domain that gives pods an identity of the cloud, on pods alone', () => {
    const rows = [{ key: 'aadpodidbinding', value: 'admin' }]
    const [danger, ...others] = kubernetesDangers({ labels: { deployment: rows, service: rows } }, none)
    expect(others).toEqual([])
    expect(danger).toEqual({
      property: 'labels.deployment[0].key',
      value: 'aadpodidbinding=admin',
      reason: 'The label aadpodidbinding gives the pod a role in the account of the cloud',
    })
    expect(properties({ labels: { deployment: [{ key: 'tier', value: 'front' }] } })).toEqual([])
  })

  it('judges annotations that a container runtime reads, which have no slash', () => {
    const rows = [{ key: 'org.systemd.property.SuccessAction', value: "'poweroff-force'" }]
    const [danger] = kubernetesDangers({ annotations: { deployment: rows } }, none)
    expect(danger?.reason).toBe(
      'The annotation org.systemd.property.SuccessAction sets properties of systemd on the machine',
    )
  })

  it('says of known annotations what they would do', () => {
    const [danger] = kubernetesDangers(
      { annotations: { deployment: [{ key: 'eks.amazonaws.com/role-arn', value: 'x' }] } },
      none,
    )
    expect(danger?.reason).toContain('gives the pod a role in the account of the cloud')
  })
})
