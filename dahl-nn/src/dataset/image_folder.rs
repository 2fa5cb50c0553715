//! [`ImageFolder`]: PNG and JPEG files in a folder for each class.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use dahl::prelude::*;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader};

use super::Dataset;
use super::images::write_shades;
use crate::error::{Error, Result};
use crate::setting;

/// The endings of the files that are images.
const ENDINGS: [&str; 3] = ["png", "jpg", "jpeg"];

/// The PNG and JPEG files of a folder that has a folder for each class. A file is decoded when its sample is read, so
/// memory does not grow with their number; the threads of a [`DataLoader`](crate::loader::DataLoader) decode ahead.
///
/// Pixels are features from 0 to 1, of shape `[3, rows, cols]`: red, green and blue. Images of another size are resized,
/// linearly. The alpha channel is left out.
#[derive(Clone, Debug)]
pub struct ImageFolder {
    classes: Vec<String>,
    files: Vec<(PathBuf, u32)>,
    shape: [usize; 3],
}

impl ImageFolder {
    /// The images in the folders of `folder`, as `size = [rows, cols]` pixels. Each of these folders is a class; labels
    /// are in the order of the names. Samples are ordered by class and file name. Other files are left out.
    ///
    /// # Errors
    /// If a folder cannot be read, there is no image, or a size is 0.
    #[track_caller]
    pub fn open(folder: impl AsRef<Path>, size: [usize; 2]) -> dahl::Result<Self> {
        let is_size = size.iter().all(|&extent| extent > 0 && u32::try_from(extent).is_ok());
        setting::require(is_size, "ImageFolder: size", setting::listed(&size), "numbers from 1")?;
        let folder = folder.as_ref();
        let (mut classes, mut files) = (Vec::new(), Vec::new());
        for class in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
            let label = classes.len() as u32;
            classes.push(class.file_name().unwrap_or_default().to_string_lossy().into_owned());
            files
                .extend(entries(&class)?.into_iter().filter(|path| is_image(path)).map(|path| (path, label)));
        }
        if files.is_empty() {
            let expected = format!("folders with files that end in {}", ENDINGS.join(", "));
            let found = format!("{} folders without one", classes.len());
            return Err(Error::Format { path: folder.to_owned(), offset: 0, expected, found }.into());
        }
        Ok(Self { classes, files, shape: [3, size[0], size[1]] })
    }

    /// Turns the images into grey ones, of shape `[1, rows, cols]`.
    pub fn grey(mut self) -> Self {
        self.shape[0] = 1;
        self
    }

    /// The names of the classes, by label.
    pub fn class_names(&self) -> &[String] {
        &self.classes
    }

    /// The file of sample `index`.
    pub fn path(&self, index: usize) -> &Path {
        &self.files[index].0
    }

    /// The pixels of sample `index`, channel by channel.
    fn decode(&self, index: usize) -> Result<Vec<u8>> {
        let path = self.path(index);
        let bytes = fs::read(path).map_err(|error| Error::Io { path: path.to_owned(), error })?;
        let wrong = |expected: &str, found: String| Error::Format {
            path: path.to_owned(),
            offset: 0,
            expected: expected.to_owned(),
            found,
        };
        let reader = ImageReader::new(Cursor::new(&bytes)).with_guessed_format();
        let reader = reader.map_err(|error| Error::Io { path: path.to_owned(), error })?;
        let name = match reader.format() {
            Some(ImageFormat::Png) => "an image in PNG",
            Some(ImageFormat::Jpeg) => "an image in JPEG",
            _ => return Err(wrong("an image in PNG or JPEG", "another content".to_owned())),
        };
        let image = reader.decode().map_err(|error| wrong(name, error.to_string()))?;
        let [channels, rows, cols] = self.shape;
        let image = match (image.height() as usize, image.width() as usize) == (rows, cols) {
            true => image,
            false => image.resize_exact(cols as u32, rows as u32, FilterType::Triangle),
        };
        Ok(match channels {
            1 => image.into_luma8().into_raw(),
            _ => planes(&image),
        })
    }
}

/// The red, then the green, then the blue parts of the pixels.
fn planes(image: &DynamicImage) -> Vec<u8> {
    let pixels = image.to_rgb8().into_raw();
    (0..3).flat_map(|channel| pixels.iter().skip(channel).step_by(3).copied()).collect()
}

fn is_image(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| ENDINGS.contains(&&*ending)) && path.is_file()
}

/// What is in a folder, in the order of the names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| Error::Io { path: folder.to_owned(), error };
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect::<Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}

impl Dataset for ImageFolder {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn sample_shape(&self) -> &[usize] {
        &self.shape
    }

    fn classes(&self) -> usize {
        self.classes.len()
    }

    /// Writes the features of sample `index`.
    ///
    /// # Panics
    /// If [`read_sample`](Dataset::read_sample) returns an error.
    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        if let Err(error) = self.read_sample(index, 0, features) {
            panic!("{error}");
        }
    }

    fn label(&self, index: usize) -> u32 {
        self.files[index].1
    }

    fn read_sample<T: Real>(&self, index: usize, _: u64, features: &mut [T]) -> dahl::Result<()> {
        write_shades(&self.decode(index)?, features);
        Ok(())
    }
}
