//! What a program is linked with.

use elf::ElfBytes;
use elf::abi::{DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_STRTAB, PT_INTERP, PT_LOAD};
use elf::endian::AnyEndian;
use elf::parse::ParseError;
use elf::string_table::StringTable;

/// What the dynamic loader is told by a program or library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Linkage {
    /// The path of the loader. None for libraries and static programs.
    pub(super) loader: Option<String>,
    /// Names of libraries, or paths if they contain a slash.
    pub(super) needed: Vec<String>,
    /// Where they are looked for first, with `$ORIGIN` for the file's own folder.
    pub(super) search: Vec<String>,
    /// Machine and word size: a library fits a program if these are equal.
    pub(super) kind: Option<Kind>,
}

/// Machine and word size, as the first bytes of a file have them.
pub(super) type Kind = ([u8; 2], u8);

/// The kind of an ELF file, from its first [`KIND_BYTES`] bytes.
pub(super) fn kind(bytes: &[u8]) -> Option<Kind> {
    let machine = bytes.get(18..KIND_BYTES)?.try_into().ok()?;
    is_elf(bytes).then_some((machine, *bytes.get(4)?))
}

/// How much of a file says what kind it is.
pub(super) const KIND_BYTES: usize = 20;

/// Whether bytes begin like an ELF file.
pub(super) fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}

/// Reads the linkage of an ELF file.
pub(super) fn linkage(bytes: &[u8]) -> Result<Linkage, ParseError> {
    let file = ElfBytes::<AnyEndian>::minimal_parse(bytes)?;
    let mut linkage = Linkage { kind: kind(bytes), ..Linkage::default() };
    let segments: Vec<_> = file.segments().map(|segments| segments.iter().collect()).unwrap_or_default();
    if let Some(segment) = segments.iter().find(|segment| segment.p_type == PT_INTERP) {
        let text = file.segment_data(segment)?;
        linkage.loader = Some(String::from_utf8_lossy(text).trim_end_matches('\0').to_owned());
    }
    let Some(dynamic) = file.dynamic()? else { return Ok(linkage) };
    let entries: Vec<_> = dynamic.iter().collect();
    let Some(table) = entries.iter().find(|entry| entry.d_tag == DT_STRTAB).map(|entry| entry.d_ptr()) else {
        return Ok(linkage);
    };
    // The table is given by its address in memory; the segment that holds it says where that is in the file.
    let holds = |start: u64, size: u64| table.checked_sub(start).filter(|offset| *offset < size);
    let place = segments.iter().filter(|segment| segment.p_type == PT_LOAD).find_map(|segment| {
        holds(segment.p_vaddr, segment.p_filesz).and_then(|offset| segment.p_offset.checked_add(offset))
    });
    let Some(strings) = place.and_then(|place| bytes.get(usize::try_from(place).ok()?..)).map(StringTable::new) else {
        return Ok(linkage);
    };
    for entry in &entries {
        let text = || usize::try_from(entry.d_val()).map_err(ParseError::from).and_then(|at| strings.get(at));
        match entry.d_tag {
            DT_NEEDED => linkage.needed.push(text()?.to_owned()),
            DT_RPATH | DT_RUNPATH => linkage.search.extend(text()?.split(':').map(str::to_owned)),
            _ => {}
        }
    }
    Ok(linkage)
}

#[cfg(test)]
mod tests {
    use super::{is_elf, linkage};
    use std::fs;

    #[test]
    fn this_program_has_a_loader_and_the_c_library() {
        let bytes = fs::read("/proc/self/exe").unwrap();
        assert!(is_elf(&bytes));
        let linkage = linkage(&bytes).unwrap();
        assert!(linkage.loader.is_some_and(|loader| loader.starts_with('/')));
        assert!(linkage.needed.iter().any(|name| name.starts_with("libc.")), "{:?}", linkage.needed);
    }

    #[test]
    fn a_cut_off_file_is_an_error() {
        let bytes = fs::read("/proc/self/exe").unwrap();
        assert!(linkage(&bytes[..80]).is_err());
    }
}
