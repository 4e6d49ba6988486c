//! SHA-256 (FIPS 180-4), which witnesses name their inputs with.

/// Returns the digest of some bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let (k, mut h) = constants();
    let mut data = bytes.to_vec();
    data.push(0x80);
    while data.len() % 64 != 56 {
        data.push(0);
    }
    data.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in data.chunks_exact(64) {
        let mut w = [0u32; 64];
        for (word, b) in w.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes([b[0], b[1], b[2], b[3]]);
        }
        for i in 16..64 {
            let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
            let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
            w[i] = w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1);
        }
        let mut v = h;
        for (k, w) in k.iter().zip(&w) {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = v[7].wrapping_add(s1).wrapping_add(choice).wrapping_add(*k).wrapping_add(*w);
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0.wrapping_add(majority));
        }
        for (h, v) in h.iter_mut().zip(v) {
            *h = h.wrapping_add(v);
        }
    }
    h.iter().map(|word| format!("{word:08x}")).collect()
}

/// Returns the first 32 bits of the fractional parts of the cube roots of the first 64 primes, and
/// of the square roots of the first 8.
fn constants() -> ([u32; 64], [u32; 8]) {
    let mut primes = (2u128..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
    let (mut k, mut h) = ([0u32; 64], [0u32; 8]);
    for (i, k) in k.iter_mut().enumerate() {
        let p = primes.next().unwrap_or(2);
        *k = root(p << 96, 3) as u32;
        if let Some(h) = h.get_mut(i) {
            *h = root(p << 64, 2) as u32;
        }
    }
    (k, h)
}

/// Returns the largest number whose power is at most `n`.
fn root(n: u128, power: u32) -> u128 {
    let (mut low, mut high) = (0u128, 1 << 40);
    while low + 1 < high {
        let middle = (low + high) / 2;
        match middle.checked_pow(power) {
            Some(p) if p <= n => low = middle,
            _ => high = middle,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::sha256;

    #[test]
    fn digests_of_the_standard() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(sha256(long), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
}
