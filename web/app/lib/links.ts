// Which addresses of a text become links. A model or a document can write any address; only hosts of the sources are followed.

const MAX = 2_000;

/** The address if it is http(s), without user and password, and on one of the hosts; else null. */
export function allowedLink(address: string, hosts: ReadonlySet<string>): string | null {
  if (address.length > MAX || !/^https?:\/\//i.test(address)) return null;
  try {
    const url = new URL(address);
    if (url.username !== '' || url.password !== '') return null;
    return (url.protocol === 'https:' || url.protocol === 'http:') && hosts.has(url.host) ? url.href : null;
  } catch {
    return null;
  }
}

/** The hosts of these addresses; what is no http(s) address has none. */
export function hostsOf(addresses: Iterable<string | null | undefined>): Set<string> {
  const hosts = new Set<string>();
  for (const address of addresses) {
    if (typeof address !== 'string' || !/^https?:\/\//i.test(address)) continue;
    try {
      hosts.add(new URL(address).host);
    } catch {
      // no address
    }
  }
  return hosts;
}
